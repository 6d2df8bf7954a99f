// The memory that the process can still use without being killed by the kernel.
#pragma once

#include <cstdint>
#include <string>

namespace scopevm::runtime {

// The least of the memory that the system has available, with its swap, and of what the memory
// limits of the process's control groups leave. INT64_MAX if none is known. `root` precedes the
// paths of /proc and /sys. Takes tens of microseconds.
int64_t available_memory(const std::string& root = "");

// Whether a block of this size fits available_memory(). Linux allocates memory that it does not
// have, and later kills the process that uses it. Small blocks are not checked.
bool is_available(int64_t bytes);

}  // namespace scopevm::runtime
