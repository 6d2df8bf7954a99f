// See model_writer.h.
#include "tests/ranks/random/model_writer.h"

#include <algorithm>
#include <utility>

namespace scopevm::ranks {
namespace {

bool is_float(const std::string& dtype) { return dtype[0] == 'f' || dtype[0] == 'b'; }

std::string joined(const std::vector<std::string>& parts, const std::string& separator = ", ") {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : separator) + part;
  return text;
}

// The dims in brackets; formulas are in quotes.
std::string list_of(const std::vector<std::string>& dims) {
  std::vector<std::string> parts;
  for (const std::string& dim : dims)
    parts.push_back(dim.find_first_of(" *+") == std::string::npos ? dim : '"' + dim + '"');
  return "[" + joined(parts) + "]";
}

std::string dims_of(const std::vector<std::string>& dims) {
  return "#sv.dims<" + list_of(dims) + ">";
}

std::string type_of(const Value& value) {
  return "!sv.tensor<" + value.dtype + list_of(value.dims) + ">";
}

std::string element_type(const std::string& dtype) { return dtype == "u8" ? "ui8" : dtype; }

std::string number_text(const std::string& dtype, int64_t number) {
  return std::to_string(number) + (is_float(dtype) ? ".0" : "");
}

template <typename T>
std::string array_of(const std::vector<T>& numbers) {
  std::vector<std::string> parts;
  for (const T number : numbers) parts.push_back(std::to_string(number));
  return "array<i64: " + joined(parts) + ">";
}

std::string axis_attribute(size_t axis) { return "axis = " + std::to_string(axis) + " : i64"; }

}  // namespace

Order inverse(const Order& order) {
  Order result(order.size());
  for (size_t i = 0; i < order.size(); ++i) result[order[i]] = i;
  return result;
}

Value ModelWriter::input(const std::string& name, const std::string& dtype,
                         const std::vector<std::string>& dims, int64_t most) {
  inputs_.push_back({"%" + name, dtype, dims, most});
  return inputs_.back();
}

Value ModelWriter::constant(const std::string& dtype, const std::vector<int64_t>& dims) {
  constexpr int64_t kMostElement = 2;
  int64_t count = 1;
  for (const int64_t dim : dims) count *= dim;
  std::vector<std::string> elements;
  for (int64_t i = 0; i < count; ++i)
    elements.push_back(
        number_text(dtype, random_.between(dtype == "u8" ? 0 : -kMostElement, kMostElement)));
  for (size_t axis = dims.size(); axis-- > 0;) {
    std::vector<std::string> rows;
    const auto size = static_cast<size_t>(dims[axis]);
    for (size_t i = 0; i < elements.size(); i += size)
      rows.push_back("[" +
                     joined({elements.begin() + static_cast<int64_t>(i),
                             elements.begin() + static_cast<int64_t>(i + size)}) +
                     "]");
    elements = std::move(rows);
  }
  Value value{new_name(), dtype, {}, kMostElement};
  for (const int64_t dim : dims) value.dims.push_back(std::to_string(dim));
  body_ += "  " + value.name + " = sv.constant {value = dense<" + elements.front() + "> : tensor<" +
           joined(value.dims, "x") + (dims.empty() ? "" : "x") + element_type(dtype) +
           ">} : " + type_of(value) + "\n";
  return value;
}

Value ModelWriter::scalar(const std::string& dtype, int64_t number) {
  Value value{new_name(), dtype, {}, std::abs(number)};
  body_ += "  " + value.name + " = sv.constant {value = dense<" + number_text(dtype, number) +
           "> : tensor<" + element_type(dtype) + ">} : " + type_of(value) + "\n";
  return value;
}

Value ModelWriter::op(const std::string& name, const std::vector<Value>& operands,
                      const std::string& attributes, Value result) {
  result.name = new_name();
  std::vector<std::string> names, types;
  for (const Value& operand : operands) {
    names.push_back(operand.name);
    types.push_back(type_of(operand));
  }
  body_ += "  " + result.name + " = sv." + name + " " + joined(names) +
           (attributes.empty() ? "" : " {" + attributes + "}") + " : (" + joined(types) + ") -> " +
           type_of(result) + "\n";
  return result;
}

Value ModelWriter::add(const Value& a, const Value& b) {
  Value result = a;
  result.most += b.most;
  return op("add", {a, b}, "", result);
}

Value ModelWriter::clamped(const Value& x, int64_t most) {
  if (x.most <= most) return x;
  Value result = op("min", {x, scalar(x.dtype, most)}, "", x);
  if (x.dtype != "u8") result = op("max", {result, scalar(x.dtype, -most)}, "", result);
  result.most = most;
  return result;
}

Value ModelWriter::cast(const Value& x, const std::string& dtype) {
  if (x.dtype == dtype) return x;
  Value result = dtype == "u8" ? unary("relu", x) : x;
  const Value operand = result;
  result.dtype = dtype;
  return op("cast", {operand}, "to = \"" + dtype + "\"", result);
}

Value ModelWriter::transposed(const Value& x, const Order& order) {
  if (std::ranges::is_sorted(order)) return x;
  Value result = x;
  for (size_t i = 0; i < order.size(); ++i) result.dims[i] = x.dims[order[i]];
  return op("transpose", {x}, "permutation = " + array_of(order), result);
}

Value ModelWriter::reshaped(const Value& x, const std::vector<std::string>& dims) {
  if (x.dims == dims) return x;
  return op("reshape", {x}, "dims = " + dims_of(dims), {"", x.dtype, dims, x.most});
}

Value ModelWriter::concatenated(const std::vector<Value>& parts, size_t axis,
                                const std::string& dim) {
  Value result = parts.front();
  result.dims[axis] = dim;
  for (const Value& part : parts) result.most = std::max(result.most, part.most);
  return op("concat", parts, axis_attribute(axis), result);
}

Value ModelWriter::summed(const Value& x, size_t axis, bool keeps_dim) {
  Value result = x;
  result.most *= kMostRows;
  if (keeps_dim)
    result.dims[axis] = "1";
  else
    result.dims.erase(result.dims.begin() + static_cast<int64_t>(axis));
  return op("reduce_sum", {x},
            "axes = array<i64: " + std::to_string(axis) +
                ">, keep_dims = " + (keeps_dim ? "true" : "false"),
            result);
}

Value ModelWriter::product(const Value& a, const Value& b, int64_t depth, bool transposes) {
  Value result = a;
  result.dims.back() = transposes ? b.dims[b.rank() - 2] : b.dims.back();
  result.most = a.most * b.most * depth;
  return op("matmul", {a, b}, transposes ? "transpose_b = true" : "", result);
}

Value ModelWriter::sliced(const Value& x, size_t axis, const std::string& start,
                          const std::string& size) {
  std::vector<std::string> starts(x.rank(), "0");
  starts[axis] = start;
  Value result = x;
  result.dims[axis] = size;
  return op("slice", {x},
            "starts = " + dims_of(starts) + ", sizes = " + dims_of(result.dims) +
                ", steps = " + array_of(std::vector<int64_t>(x.rank(), 1)),
            result);
}

Value ModelWriter::chosen(const Value& condition, const Value& x) {
  Value result = x;
  result.name = new_name();
  const std::string type = type_of(x);
  body_ += "  " + result.name + " = sv.if " + condition.name + " : (" + type_of(condition) +
           ") -> " + type + " {\n";
  const Value changed = x.dtype == "u8" ? add(x, x) : unary("neg", x);
  body_ += "  sv.yield " + changed.name + " : " + type + "\n  } else {\n  sv.yield " + x.name +
           " : " + type + "\n  }\n";
  result.most = changed.most;
  return result;
}

std::string ModelWriter::text() {
  shuffle(inputs_);
  shuffle(outputs_);
  std::vector<std::string> parameters, results, names, types;
  for (const Value& input : inputs_)
    parameters.push_back(input.name + ": " + type_of(input) + " {sv.name = \"" +
                         input.name.substr(1) + "\"}");
  for (const auto& [name, value] : outputs_) {
    results.push_back(type_of(value) + " {sv.name = \"" + name + "\"}");
    names.push_back(value.name);
    types.push_back(type_of(value));
  }
  return "func.func @main(" + joined(parameters, ",\n    ") + ")\n    -> (" +
         joined(results, ",\n    ") + ") {\n" + body_ + "  return " + joined(names) + " : " +
         joined(types) + "\n}\n";
}

}  // namespace scopevm::ranks
