// The small languages of the command line: NAME=VALUE, dims, ranges, dimension bounds.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "scopevm/compiler.h"
#include "scopevm/status.h"

namespace scopevm::tool {

// "NAME=VALUE". Errors: kInvalidArgument.
Result<std::pair<std::string, std::string>> split_assignment(const std::string& text);

// A whole decimal number. Errors: kInvalidArgument.
Result<int64_t> parse_number(std::string_view text);

// "512", "64KiB", "2MiB", "1GiB". Errors: kInvalidArgument.
Result<int64_t> parse_bytes(const std::string& text);

// What NAME=random:... asks for: "1x3x48x320" with elements in [0, 1], or "1x128:0..30000". No dims
// make a scalar.
struct RandomTensor {
  std::vector<int64_t> dims;
  double low = 0;
  double high = 1;
};
Result<RandomTensor> parse_random(const std::string& text);

// Adds one --dim: NAME=VALUE, NAME=LOW..HIGH, NAME<=HIGH, NAME>=LOW or NAME%FACTOR.
Status add_dim_bound(const std::string& text, std::map<std::string, DimBound>& bounds);

}  // namespace scopevm::tool
