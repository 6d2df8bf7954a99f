// The features of the host CPU, with the names of /proc/cpuinfo.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace scopevm::runtime {

// Whether the CPU has `feature`, such as "avx512f", and the operating system saves the registers of
// the feature. False for an unknown name, and on other CPUs than x86-64.
bool cpu_has(std::string_view feature);

// The elements of `features` for which cpu_has() is false.
std::vector<std::string> missing_cpu_features(std::span<const std::string> features);

}  // namespace scopevm::runtime
