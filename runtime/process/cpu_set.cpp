// Binds threads to CPUs; see cpu_set.h.
#include "runtime/process/cpu_set.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <string_view>

namespace scopevm::runtime {
namespace {

// The numbers in a list of the kernel, such as "0-3,8"; those before an error, if it has one.
std::vector<int> parse_list(std::string_view text) {
  std::vector<int> numbers;
  const auto read = [&](int& number) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    text.remove_prefix(static_cast<size_t>(end - text.data()));
    return error == std::errc();
  };
  int first = 0;
  while (read(first)) {
    int last = first;
    if (text.starts_with('-')) {
      text.remove_prefix(1);
      if (!read(last)) break;
    }
    for (int number = first; number <= std::min(last, CPU_SETSIZE - 1); ++number)
      numbers.push_back(number);
    if (!text.starts_with(',')) break;
    text.remove_prefix(1);
  }
  return numbers;
}

}  // namespace

Result<CpuSet> CpuSet::create(std::span<const int> cpus) {
  CpuSet set;
  cpu_set_t allowed;
  const bool is_known = sched_getaffinity(0, sizeof allowed, &allowed) == 0;
  for (const int cpu : cpus) {
    if (cpu < 0 || cpu >= CPU_SETSIZE || (is_known && !CPU_ISSET(cpu, &allowed)))
      return Status(StatusCode::kInvalidArgument,
                    "CPU " + std::to_string(cpu) + " is not a CPU of this process");
    CPU_SET(cpu, &set.cpus_);
  }
  set.count_ = CPU_COUNT(&set.cpus_);
  return set;
}

void CpuSet::bind_thread() const {
  if (!is_all()) sched_setaffinity(0, sizeof cpus_, &cpus_);
}

Result<std::vector<int>> cpus_of_node(int node, const std::string& root) {
  std::ifstream file(root + "/sys/devices/system/node/node" + std::to_string(node) + "/cpulist");
  std::string list;
  if (!std::getline(file, list))
    return Status(StatusCode::kNotFound, "this machine has no NUMA node " + std::to_string(node));
  return parse_list(list);
}

}  // namespace scopevm::runtime
