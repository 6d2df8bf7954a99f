// What the CPU under us can do, in the words of /proc/cpuinfo.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace scopevm::runtime {

// Whether the CPU has `feature` ("avx512f") and the operating system saves the registers that it
// needs. False for a name that is not known here.
bool cpu_has(std::string_view feature);

// Those of `features` that the CPU lacks.
std::vector<std::string> missing_cpu_features(std::span<const std::string> features);

}  // namespace scopevm::runtime
