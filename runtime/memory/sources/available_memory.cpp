// Reads /proc/meminfo and the files of control groups, versions 1 and 2; see available_memory.h.
#include "runtime/memory/sources/available_memory.h"

#include <algorithm>
#include <fstream>
#include <limits>
#include <optional>
#include <sstream>
#include <vector>

#include "runtime/process/control_groups.h"

namespace scopevm::runtime {
namespace {

constexpr int64_t kUnknown = std::numeric_limits<int64_t>::max();
// The check costs little compared with the first use of the pages of a block of this size.
constexpr int64_t kCheckedFrom = int64_t{64} << 20;

// The number after `key` in a file of "key number" lines.
std::optional<int64_t> number_of(const std::string& path, const std::string& key) {
  std::ifstream file(path);
  std::string word;
  int64_t number = 0;
  for (std::string line; std::getline(file, line);)
    if (std::istringstream(line) >> word >> number && word == key) return number;
  return std::nullopt;
}

int64_t available_in_system(const std::string& root) {
  const std::string path = root + "/proc/meminfo";
  const std::optional<int64_t> kilobytes = number_of(path, "MemAvailable:");
  if (!kilobytes) return kUnknown;
  return (*kilobytes + number_of(path, "SwapFree:").value_or(0)) * 1024;
}

struct GroupFiles {
  const char* limit;
  const char* usage;
  const char* file_cache;  // in memory.stat: pages that the kernel can drop
};

GroupFiles files_of(int version) {
  if (version == 2) return {"/memory.max", "/memory.current", "inactive_file"};
  return {"/memory.limit_in_bytes", "/memory.usage_in_bytes", "total_inactive_file"};
}

// What the limit of one control group leaves.
int64_t available_in_group(const ControlGroup& group) {
  const GroupFiles files = files_of(group.version);
  const std::vector<int64_t> limit = integers_in(group.folder + files.limit, 1);
  const std::vector<int64_t> usage = integers_in(group.folder + files.usage, 1);
  if (limit.empty() || usage.empty()) return kUnknown;
  const int64_t cache = number_of(group.folder + "/memory.stat", files.file_cache).value_or(0);
  return std::max<int64_t>(0, limit[0] - usage[0] + std::min(cache, usage[0]));
}

}  // namespace

int64_t available_memory(const std::string& root) try {
  int64_t least = available_in_system(root);
  for (const ControlGroup& group : control_groups("memory", root))
    least = std::min(least, available_in_group(group));
  return least;
} catch (...) {
  return kUnknown;
}

bool is_available(int64_t bytes) { return bytes < kCheckedFrom || bytes <= available_memory(); }

}  // namespace scopevm::runtime
