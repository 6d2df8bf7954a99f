// The CPUs on which threads run.
#pragma once

#include <sched.h>

#include <span>
#include <string>
#include <vector>

#include "scopevm/status.h"

namespace scopevm::runtime {

class CpuSet {
 public:
  // All CPUs of the process: threads are not bound.
  CpuSet() = default;
  // Errors: kInvalidArgument (a number that is negative, too large or not a CPU of the process).
  static Result<CpuSet> create(std::span<const int> cpus);

  bool is_all() const { return count_ == 0; }
  // The number of CPUs. REQUIRES: !is_all().
  int count() const { return count_; }
  // Binds the calling thread to the set. No effect if the system refuses this, or for all CPUs.
  void bind_thread() const;

 private:
  cpu_set_t cpus_{};
  int count_ = 0;
};

// The CPUs of a NUMA node. `root` precedes the path of /sys. Errors: kNotFound (no such node).
Result<std::vector<int>> cpus_of_node(int node, const std::string& root = "");

}  // namespace scopevm::runtime
