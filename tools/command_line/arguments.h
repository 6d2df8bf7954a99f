// Parsers for command-line values: NAME=VALUE, numbers, sizes in bytes, random tensors and lists.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "scopevm/module.h"
#include "scopevm/status.h"

namespace scopevm::tool {

// Splits "NAME=VALUE" after a name in quotes (runtime/name_text.h), or else at the '=' after the
// longest of `names` that it starts with, or else at the first '='. Names can contain '='. Errors:
// kInvalidArgument (no '=', or an empty name).
Result<std::pair<std::string, std::string>> split_assignment(
    const std::string& text, const std::vector<std::string>& names = {});

// Without blanks at its ends.
std::string trimmed(const std::string& text);

// Parses a decimal integer. Errors: kInvalidArgument.
Result<int64_t> parse_number(std::string_view text);

// Adds the value of a dimension. Errors: kInvalidArgument (not an integer, or a second value).
Status add_dim_value(const std::string& name, const std::string& value,
                     std::map<std::string, int64_t>& dims);

// Parses NAME=VALUE and NAME=LEAST..MOST. Errors: kInvalidArgument (not integers, or a second value
// of a name).
Result<std::map<std::string, DimRange>> parse_dim_ranges(const std::vector<std::string>& strings);

// Parses "512", "64K", "64KiB", "2MiB", "1GiB" into bytes. Errors: kInvalidArgument.
Result<int64_t> parse_bytes(const std::string& text);

// The value after NAME=random:, such as "1x3x48x320" (elements in [0, 1]) or "1x128:0..30000".
// Without dims, the tensor is a scalar. A single number after the colon is both LOW and HIGH.
struct RandomTensor {
  std::vector<int64_t> dims;
  double low = 0;
  double high = 1;
};
Result<RandomTensor> parse_random(const std::string& text);

// The position of the first comma at or after `begin` that no backslash escapes, or the size of the
// list.
size_t find_comma(std::string_view list, size_t begin);

// Splits "a,b,c" at the commas. A backslash escapes the next character.
std::vector<std::string> split_strings(std::string_view list);

}  // namespace scopevm::tool
