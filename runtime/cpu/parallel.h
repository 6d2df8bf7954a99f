// The default executor.
#pragma once

#include <memory>

#include "scopevm/executor.h"

namespace scopevm::runtime {

// Creates an executor with `threads` workers, including the calling thread. 0 or less means one
// worker per core. The first loop that uses more than one worker starts the threads.
std::unique_ptr<Executor> make_default_executor(int threads);

}  // namespace scopevm::runtime
