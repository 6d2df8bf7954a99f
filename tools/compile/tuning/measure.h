// Measures modules for compile --tune.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "scopevm/session.h"
#include "scopevm/status.h"

namespace scopevm::tool {

// The median duration of a call of each module, in seconds, in sessions with these options. The
// calls of the modules alternate. Inputs are random numbers in [0, 1]; integers and bools are 0, so
// that they are valid indices. Errors: those of loading, of creating sessions and of the calls;
// kUnsupported (a string, a sequence or an optional is an input).
Result<std::vector<double>> measure_modules(std::span<const std::span<const uint8_t>> modules,
                                            const std::map<std::string, int64_t>& dims,
                                            const SessionOptions& options);

}  // namespace scopevm::tool
