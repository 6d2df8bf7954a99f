// The default executor.
#pragma once

#include <memory>

#include "scopevm/executor.h"

namespace scopevm::runtime {

// An executor with `threads` workers (0: one per core), the calling thread included. Starts no
// thread before the first loop that needs two.
std::unique_ptr<Executor> make_default_executor(int threads);

}  // namespace scopevm::runtime
