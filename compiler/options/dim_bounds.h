// Parses the values of the options "dim" and "variant".
#pragma once

#include <map>
#include <string>
#include <vector>

#include "scopevm/compiler.h"
#include "scopevm/status.h"

namespace scopevm::compiler::options {

// Checks the syntax of one value. Errors: kInvalidArgument.
Status check_dim_bounds(const std::string& value);

// The bound of each name in all values of an option. Each value is a comma-separated list of
// NAME=VALUE, NAME=LOW..HIGH, NAME<=HIGH, NAME>=LOW, NAME%FACTOR==0 or NAME=FORMULA. A name can be
// in quotes (runtime/name_text.h). NAME%FACTOR and NAME%FACTOR=0 are accepted, too. Bounds of the
// same name are combined. Errors: kInvalidArgument, also if no value satisfies all bounds of a
// name.
Result<std::map<std::string, DimBound>> parse_dim_bounds(const std::vector<std::string>& strings);

}  // namespace scopevm::compiler::options
