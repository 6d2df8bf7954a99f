// Pairs of an input and the output that a state ties to it, as the options of commands state them.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "scopevm/status.h"

namespace scopevm::runtime {

using StatePairs = std::vector<std::pair<std::string, std::string>>;

// Parses INPUT=OUTPUT. With one "*" in both, there is one pair for each input that matches; in the
// name of the output, the text that matches the "*" of the input replaces the "*". Names of outputs
// are not checked. Errors: kInvalidArgument.
Result<StatePairs> parse_state_pairs(const std::string& text, std::span<const std::string> inputs,
                                     std::span<const std::string> outputs);
// The pairs of all texts. An error has the text as its context.
Result<StatePairs> parse_state_pairs(std::span<const std::string> texts,
                                     std::span<const std::string> inputs,
                                     std::span<const std::string> outputs);

}  // namespace scopevm::runtime
