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

// The texts of "a,b,c"; a backslash takes the next character, such as a comma, as it is.
std::vector<std::string> split_texts(std::string_view list);

// What the --dim options say together. Each is a bound, or more than one with commas between them:
// NAME=VALUE, NAME=LOW..HIGH, NAME<=HIGH, NAME>=LOW, NAME%FACTOR==0. Bounds of one name add up;
// errors: kInvalidArgument, also when no value keeps all of them; `option` is whose texts they are.
Status add_dim_bounds(const std::vector<std::string>& texts,
                      std::map<std::string, DimBound>& bounds, const std::string& option = "--dim");

}  // namespace scopevm::tool
