// Parses descriptions of external functions; see description.h.
#include "plugins/dnnl/graph/description.h"

namespace scopevm::onednn {
namespace {

using nlohmann::json;

// Limits far above those of any function that the patterns can match.
constexpr size_t kMaxRank = 12;
constexpr size_t kMaxValues = 256;
constexpr size_t kMaxDimText = 4096;  // bytes

Status invalid(const std::string& what) {
  return {StatusCode::kInvalidArgument, "description: " + what};
}

const json* find(const json& object, const char* key) {
  auto found = object.find(key);
  return found == object.end() ? nullptr : &*found;
}

// A JSON integer in the range of int64.
std::optional<int64_t> as_integer(const json& value) {
  if (value.is_number_unsigned() && value.get<uint64_t>() > uint64_t{INT64_MAX})
    return std::nullopt;
  if (!value.is_number_integer()) return std::nullopt;
  return value.get<int64_t>();
}

Result<const json*> array_of(const json& object, const char* key, size_t limit,
                             const std::string& where) {
  const json* array = find(object, key);
  if (array == nullptr || !array->is_array())
    return invalid(where + "\"" + key + "\" is not an array");
  if (array->size() > limit)
    return invalid(where + "\"" + key + "\" has " + std::to_string(array->size()) +
                   " elements, expected at most " + std::to_string(limit));
  return array;
}

Result<std::string> parse_dim(const json& dim, const std::string& where) {
  if (auto number = as_integer(dim); number && *number >= 0) return std::to_string(*number);
  if (dim.is_string()) {
    const auto& formula = dim.get_ref<const std::string&>();
    if (!formula.empty() && formula.size() <= kMaxDimText) return formula;
  }
  return invalid(where + "a dim is neither a number, at least 0, nor a formula");
}

Result<Type> parse_type(const json& object, const std::string& where) {
  if (!object.is_object()) return invalid(where + "not an object");
  Type type;
  const json* dtype = find(object, "dtype");
  if (dtype == nullptr || !dtype->is_string()) return invalid(where + "\"dtype\" is not a string");
  type.dtype = dtype->get<std::string>();
  SCOPEVM_ASSIGN_OR_RETURN(const json* dims, array_of(object, "dims", kMaxRank, where));
  for (const json& dim : *dims) {
    SCOPEVM_ASSIGN_OR_RETURN(std::string text, parse_dim(dim, where));
    type.dims.push_back(std::move(text));
  }
  return type;
}

Result<Operand> parse_operand(const json& object, const std::string& where) {
  SCOPEVM_ASSIGN_OR_RETURN(Type type, parse_type(object, where));
  Operand operand{std::move(type)};
  const json* constant = find(object, "constant");
  if (constant != nullptr && !constant->is_boolean())
    return invalid(where + "\"constant\" is not a bool");
  operand.is_constant = constant != nullptr && constant->get<bool>();
  const json* prepared = find(object, "prepared");
  if (prepared == nullptr) return operand;
  if (!prepared->is_object()) return invalid(where + "\"prepared\" is not an object");
  const json* bytes = find(*prepared, "bytes");
  const auto number = bytes == nullptr ? std::nullopt : as_integer(*bytes);
  const json* layout = find(*prepared, "layout");
  if (!number || *number < 1 || layout == nullptr || !layout->is_string())
    return invalid(where + "\"prepared\" does not have \"bytes\", at least 1, and \"layout\"");
  operand.prepared = {*number, layout->get<std::string>()};
  return operand;
}

// Numbers of values; each is less than `values`.
Result<std::vector<size_t>> parse_values(const json& object, const char* key, size_t values,
                                         const std::string& where) {
  SCOPEVM_ASSIGN_OR_RETURN(const json* array, array_of(object, key, kMaxValues, where));
  std::vector<size_t> numbers;
  for (const json& element : *array) {
    auto number = as_integer(element);
    if (!number || *number < 0 || static_cast<uint64_t>(*number) >= values)
      return invalid(where + "\"" + key + "\": an element is not the number of an earlier value");
    numbers.push_back(static_cast<size_t>(*number));
  }
  return numbers;
}

Result<Op> parse_op(const json& object, size_t values, const std::string& where) {
  if (!object.is_object()) return invalid(where + "not an object");
  SCOPEVM_ASSIGN_OR_RETURN(const json* results, array_of(object, "results", kMaxValues, where));
  // No op of the patterns has another number.
  if (results->size() != 1) return invalid(where + "\"results\" does not have one element");
  SCOPEVM_ASSIGN_OR_RETURN(Type type, parse_type(results->front(), where));
  Op op;
  op.type = std::move(type);
  const json* name = find(object, "op");
  if (name == nullptr || !name->is_string()) return invalid(where + "\"op\" is not a string");
  op.name = name->get<std::string>();
  SCOPEVM_ASSIGN_OR_RETURN(op.operands, parse_values(object, "operands", values, where));
  const json* attributes = find(object, "attributes");
  op.attributes = attributes == nullptr ? json::object() : *attributes;
  if (!op.attributes.is_object()) return invalid(where + "\"attributes\" is not an object");
  return op;
}

Status wrong_attribute(const Op& op, const char* name, const char* expected) {
  return invalid("op \"" + op.name + "\": attribute \"" + name + "\" is not " + expected);
}

}  // namespace

std::string text_of(const std::vector<std::string>& dims) {
  std::string text;
  for (const std::string& dim : dims) text += (text.empty() ? "" : ", ") + dim;
  return "[" + text + "]";
}

Result<Description> parse_description(std::string_view text) {
  const json root = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!root.is_object()) return invalid("not a JSON object");
  Description description;
  SCOPEVM_ASSIGN_OR_RETURN(const json* operands, array_of(root, "operands", kMaxValues, ""));
  for (const json& operand : *operands) {
    const std::string where = "operand " + std::to_string(description.operands.size()) + ": ";
    SCOPEVM_ASSIGN_OR_RETURN(Operand parsed, parse_operand(operand, where));
    description.operands.push_back(std::move(parsed));
  }
  SCOPEVM_ASSIGN_OR_RETURN(const json* ops, array_of(root, "ops", kMaxValues, ""));
  for (const json& element : *ops) {
    const size_t index = description.ops.size();
    SCOPEVM_ASSIGN_OR_RETURN(
        Op op, parse_op(element, operands->size() + index, "op " + std::to_string(index) + ": "));
    description.ops.push_back(std::move(op));
  }
  SCOPEVM_ASSIGN_OR_RETURN(description.results,
                           parse_values(root, "results", operands->size() + ops->size(), ""));
  return description;
}

Result<bool> bool_attribute(const Op& op, const char* name) {
  const json* value = find(op.attributes, name);
  if (value == nullptr) return false;
  if (!value->is_boolean()) return wrong_attribute(op, name, "a bool");
  return value->get<bool>();
}

Result<int64_t> integer_attribute(const Op& op, const char* name) {
  const json* value = find(op.attributes, name);
  auto number = value == nullptr ? std::nullopt : as_integer(*value);
  if (!number) return wrong_attribute(op, name, "an integer");
  return *number;
}

Result<std::vector<int64_t>> list_attribute(const Op& op, const char* name) {
  const json* value = find(op.attributes, name);
  if (value == nullptr || !value->is_array() || value->size() > 2 * kMaxRank)
    return wrong_attribute(op, name, "a list of integers");
  std::vector<int64_t> list;
  for (const json& element : *value) {
    auto number = as_integer(element);
    if (!number) return wrong_attribute(op, name, "a list of integers");
    list.push_back(*number);
  }
  return list;
}

}  // namespace scopevm::onednn
