// Reads the affinity and the limits of control groups; see available_cpus.h.
#include "runtime/process/available_cpus.h"

#include <sched.h>

#include <algorithm>
#include <cstdint>
#include <thread>
#include <vector>

#include "runtime/process/control_groups.h"

namespace scopevm::runtime {
namespace {

int64_t cpus_of_affinity() {
  cpu_set_t cpus;
  // Fails for systems with more CPUs than the set has.
  if (sched_getaffinity(0, sizeof cpus, &cpus) == 0) return CPU_COUNT(&cpus);
  return std::thread::hardware_concurrency();
}

// The limit of a group: microseconds of CPU time in a period; empty without a limit.
std::vector<int64_t> limit_of(const ControlGroup& group) {
  if (group.version == 2) return integers_in(group.folder + "/cpu.max", 2);
  std::vector<int64_t> limit = integers_in(group.folder + "/cpu.cfs_quota_us", 1);
  for (const int64_t period : integers_in(group.folder + "/cpu.cfs_period_us", 1))
    limit.push_back(period);
  return limit;
}

}  // namespace

int available_cpus(const std::string& root) try {
  int64_t least = cpus_of_affinity();
  for (const ControlGroup& group : control_groups("cpu", root)) {
    const std::vector<int64_t> limit = limit_of(group);
    if (limit.size() < 2 || limit[0] <= 0 || limit[1] <= 0) continue;
    least = std::min(least, limit[0] / limit[1] + (limit[0] % limit[1] > 0 ? 1 : 0));
  }
  return static_cast<int>(std::max<int64_t>(1, least));
} catch (...) {
  return 1;  // out of memory
}

}  // namespace scopevm::runtime
