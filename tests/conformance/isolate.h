// Runs a function in a child process with resource limits, so that a crash, a hang or excessive
// memory use is an outcome and does not end the run.
#pragma once

#include <functional>
#include <memory>

#include "tests/conformance/outcome.h"

namespace scopevm::conformance {

// The main limit is CPU time, so that outcomes do not depend on the load of the machine.
struct Limits {
  // CPU time of all threads together, multiplied by 10 under a sanitizer. An OpenCL driver can use
  // 30 s to compile kernels.
  int cpu_seconds = 300;
  // Ends a process that waits forever without using CPU time.
  int wall_seconds = 3600;
  long long address_space_bytes = 4LL << 30;  // not applied under a sanitizer
};

// A running child process.
class Child {
 public:
  // Forks, and runs `work` in the child. Returns null if the pipe or the process cannot be created.
  // REQUIRES: the calling process has one thread.
  static std::unique_ptr<Child> start(const std::function<Outcome()>& work, const Limits& limits);
  virtual ~Child() = default;
  // Waits until the process has ended and returns its outcome.
  virtual Outcome finish() = 0;
};

}  // namespace scopevm::conformance
