// The value of option "split".
#pragma once

#include <string>
#include <string_view>

#include "scopevm/status.h"

namespace scopevm::compiler::options {

// How a model is split over ranks.
struct Split {
  int tensor = 1;    // ranks that share the work of an op; 1: each op runs on one rank
  int pipeline = 1;  // consecutive parts of the model, each on ranks of its own

  // The ranks that the machine needs.
  int ranks() const { return tensor * pipeline; }
  // "tensor=2,pipeline=3"
  std::string text() const;
};

// Parses "pipeline=2", "tensor=2" or both, separated by a comma. Empty: not split. Errors:
// kInvalidArgument.
Result<Split> parse_split(std::string_view text);

}  // namespace scopevm::compiler::options
