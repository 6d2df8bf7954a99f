// The number of CPUs that this process can use.
#pragma once

#include <string>

namespace scopevm::runtime {

// The CPUs of the process's affinity, but not more than the CPU limits of its control groups allow,
// rounded up; at least 1. `root` precedes the paths of /proc and /sys. Takes tens of microseconds.
int available_cpus(const std::string& root = "");

}  // namespace scopevm::runtime
