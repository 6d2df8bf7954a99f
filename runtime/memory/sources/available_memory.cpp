// Reads /proc/meminfo and the files of control groups, versions 1 and 2; see available_memory.h.
#include "runtime/memory/sources/available_memory.h"

#include <algorithm>
#include <fstream>
#include <limits>
#include <optional>
#include <sstream>

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

// The number that a file consists of; none also for "max".
std::optional<int64_t> number_in(const std::string& path) {
  std::ifstream file(path);
  int64_t number = 0;
  return file >> number ? std::optional(number) : std::nullopt;
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

// What the limit of one control group leaves.
int64_t available_in_group(const std::string& folder, const GroupFiles& files) {
  const std::optional<int64_t> limit = number_in(folder + files.limit);
  const std::optional<int64_t> usage = number_in(folder + files.usage);
  if (!limit || !usage) return kUnknown;
  const int64_t cache = number_of(folder + "/memory.stat", files.file_cache).value_or(0);
  return std::max<int64_t>(0, *limit - *usage + std::min(cache, *usage));
}

// The least of a control group and of those that contain it.
int64_t available_in_groups(const std::string& mount, std::string group, const GroupFiles& files) {
  int64_t least = kUnknown;
  for (;; group.resize(group.rfind('/'))) {
    least = std::min(least, available_in_group(mount + group, files));
    if (group.find('/') == std::string::npos) return least;
  }
}

}  // namespace

int64_t available_memory(const std::string& root) try {
  int64_t least = available_in_system(root);
  std::ifstream groups(root + "/proc/self/cgroup");
  // "0::/group" in version 2, and "4:memory:/group" in version 1.
  for (std::string line; std::getline(groups, line);) {
    const size_t first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    std::string group = line.substr(second + 1);
    if (group == "/") group.clear();
    if (controllers.empty())
      least =
          std::min(least, available_in_groups(root + "/sys/fs/cgroup", group,
                                              {"/memory.max", "/memory.current", "inactive_file"}));
    else if (controllers == "memory")
      least = std::min(
          least, available_in_groups(
                     root + "/sys/fs/cgroup/memory", group,
                     {"/memory.limit_in_bytes", "/memory.usage_in_bytes", "total_inactive_file"}));
  }
  return least;
} catch (...) {
  return kUnknown;
}

bool is_available(int64_t bytes) { return bytes < kCheckedFrom || bytes <= available_memory(); }

}  // namespace scopevm::runtime
