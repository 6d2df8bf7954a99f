// Pairs of an input and the output that a state ties to it, as the options of commands state them.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "scopevm/status.h"

namespace scopevm::runtime {

using StatePairs = std::vector<std::pair<std::string, std::string>>;

// Parses INPUT=OUTPUT, the value of an option. With one "*" in both, there is one pair for each
// input that matches; in the name of the output, the text that matches the "*" of the input
// replaces the
// "*". Names of outputs are not checked. Errors: kInvalidArgument.
Result<StatePairs> parse_state_pairs(const std::string& value, std::span<const std::string> inputs,
                                     std::span<const std::string> outputs);
// The pairs of several values. The context of an error is the value that causes it.
Result<StatePairs> parse_state_pairs(std::span<const std::string> values,
                                     std::span<const std::string> inputs,
                                     std::span<const std::string> outputs);

}  // namespace scopevm::runtime
