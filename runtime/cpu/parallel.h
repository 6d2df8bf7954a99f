// The default executor.
#pragma once

#include <memory>

#include "runtime/process/cpu_set.h"
#include "scopevm/executor.h"

namespace scopevm::runtime {

// The largest number of threads of the default executor.
inline constexpr int kMaxThreads = 4096;

// Creates an executor with `threads` workers, including the calling thread. 0 or less means one
// worker per CPU of available_cpus(). The first loop that uses more than one worker starts the
// threads, or as many of them as the system can start. All of its threads but the calling one run
// on `cpus`.
std::unique_ptr<Executor> make_default_executor(int threads, const CpuSet& cpus = {});

}  // namespace scopevm::runtime
