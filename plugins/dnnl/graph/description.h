// The description of an external function (scopevm/c/external.h), parsed from JSON. Descriptions
// come from module files, so every error in them is reported. layer.h decides what oneDNN can
// compute.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "scopevm/status.h"

namespace scopevm::onednn {

struct Type {
  std::string dtype;              // "f32"
  std::vector<std::string> dims;  // "768", or a formula over names of dims: "2*n"
  size_t rank() const { return dims.size(); }
};

// A constant operand whose prepared form runs receive.
struct Prepared {
  int64_t bytes = 0;
  std::string layout;  // see layout.h
};

struct Operand : Type {
  bool is_constant = false;
  std::optional<Prepared> prepared;
};

// For example, "[n, 768]".
std::string text_of(const std::vector<std::string>& dims);

struct Op {
  std::string name;              // "matmul"
  std::vector<size_t> operands;  // numbers of values
  nlohmann::json attributes;     // an object
  Type type;                     // of the result
};

// Values are numbered: first the operands, then the results of the ops in order.
struct Description {
  std::vector<Operand> operands;
  std::vector<Op> ops;
  std::vector<size_t> results;

  const Type& type(size_t value) const {
    return value < operands.size() ? operands[value] : ops[value - operands.size()].type;
  }
};

// Fails with kInvalidArgument. An op uses only values with smaller numbers than its own.
Result<Description> parse_description(std::string_view text);

// Attributes of an op. Each function fails with kInvalidArgument if the attribute has another type.
// A missing bool is false. A missing list or integer is an error.
Result<bool> bool_attribute(const Op& op, const char* name);
Result<int64_t> integer_attribute(const Op& op, const char* name);
Result<std::vector<int64_t>> list_attribute(const Op& op, const char* name);

}  // namespace scopevm::onednn
