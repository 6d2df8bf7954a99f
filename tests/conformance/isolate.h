// Runs a function in a child process, so that a crash, a hang or a hunger for memory in it is an
// outcome and not the end of the run.
#pragma once

#include <functional>
#include <memory>

#include "tests/conformance/outcome.h"

namespace scopevm::conformance {

// Only work counts: a process that waits for a CPU is not slow.
struct Limits {
  // Of all threads. An OpenCL driver may compile kernels in the process for half a minute.
  int cpu_seconds = 300;
  // The last resort for a process that waits forever without using a CPU.
  int wall_seconds = 3600;
  long long address_space_bytes = 4LL << 30;  // not applied under a sanitizer
};

// A child at work.
class Child {
 public:
  // Forks. REQUIRES: the calling process has one thread.
  static std::unique_ptr<Child> start(const std::function<Outcome()>& work, const Limits& limits);
  virtual ~Child() = default;
  // Waits for its end.
  virtual Outcome finish() = 0;
};

}  // namespace scopevm::conformance
