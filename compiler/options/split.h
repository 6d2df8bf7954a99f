// The value of option "split".
#pragma once

#include <string_view>

#include "scopevm/status.h"

namespace scopevm::compiler::options {

// How a model is split over ranks.
struct Split {
  int pipeline = 1;  // consecutive parts of the model, each on a rank; 1: not split

  // The ranks that the machine needs.
  int ranks() const { return pipeline; }
};

// Parses "pipeline=2". Empty: not split. Errors: kInvalidArgument.
Result<Split> parse_split(std::string_view text);

}  // namespace scopevm::compiler::options
