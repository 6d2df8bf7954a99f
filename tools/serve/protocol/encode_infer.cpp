// Writes the JSON of a response, and its binary data; see infer_json.h.
#include <array>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string_view>
#include <system_error>
#include <utility>

#include "runtime/quoted.h"
#include "tools/serve/protocol/binary_tensor.h"
#include "tools/serve/protocol/datatype.h"
#include "tools/serve/protocol/infer_json.h"

namespace scopevm::serve {
namespace {

Status not_in_json(std::string what) {
  return {StatusCode::kInvalidArgument,
          std::move(what) + ", which JSON cannot hold: request it as binary data"};
}

// A string with quotes. Errors: kInvalidArgument (not UTF-8).
Status append_string(std::string& json, std::string_view text) {
  try {
    json += nlohmann::json(text).dump();
  } catch (const nlohmann::json::type_error&) {
    return not_in_json("a string is not UTF-8");
  }
  return {};
}

// For a text of the server itself, or a name of the model.
void append_name(std::string& json, std::string_view name) {
  json += nlohmann::json(name).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

template <typename T>
Status append_numbers(std::string& json, const Tensor& tensor) {
  std::array<char, 32> text;
  for (const T value : tensor.elements<T>()) {
    if constexpr (std::is_floating_point_v<T>)
      if (!std::isfinite(value))
        return not_in_json("an element is " + std::string(std::isnan(value) ? "NaN" : "infinite"));
    const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), value);
    json.append(text.data(), end);
    // Without a fraction, clients read an integer, which has no -0 and a limited range.
    if (std::is_floating_point_v<T> &&
        std::string_view(text.data(), static_cast<size_t>(end - text.data())).find_first_of(".e") ==
            std::string_view::npos)
      json += ".0";
    json += ',';
  }
  return {};
}

Status append_bools(std::string& json, const Tensor& tensor) {
  for (const uint8_t value : tensor.elements<uint8_t>()) json += value != 0 ? "true," : "false,";
  return {};
}

Status append_strings(std::string& json, const Tensor& tensor) {
  for (int64_t i = 0; i < tensor.element_count(); ++i) {
    SCOPEVM_RETURN_IF_ERROR(append_string(json, tensor.string_at(i)));
    json += ',';
  }
  return {};
}

// The elements, each with a comma after it.
Status append_elements(std::string& json, const Tensor& tensor) {
  switch (tensor.dtype()) {
    case DType::kBool:
      return append_bools(json, tensor);
    case DType::kI8:
      return append_numbers<int8_t>(json, tensor);
    case DType::kI16:
      return append_numbers<int16_t>(json, tensor);
    case DType::kI32:
      return append_numbers<int32_t>(json, tensor);
    case DType::kI64:
      return append_numbers<int64_t>(json, tensor);
    case DType::kU8:
      return append_numbers<uint8_t>(json, tensor);
    case DType::kU16:
      return append_numbers<uint16_t>(json, tensor);
    case DType::kU32:
      return append_numbers<uint32_t>(json, tensor);
    case DType::kU64:
      return append_numbers<uint64_t>(json, tensor);
    case DType::kF32:
      return append_numbers<float>(json, tensor);
    case DType::kF64:
      return append_numbers<double>(json, tensor);
    case DType::kStr:
      return append_strings(json, tensor);
    default:
      return not_in_json("its type is " + datatype_name(tensor.dtype()));
  }
}

Status append_output(std::string& json, const NamedTensor& output, bool is_binary) {
  json += "{\"name\":";
  append_name(json, output.name);
  json += ",\"datatype\":\"" + datatype_name(output.tensor.dtype()) + "\",\"shape\":[";
  for (int axis = 0; axis < output.tensor.rank(); ++axis)
    json.append(axis == 0 ? "" : ",")
        .append(std::to_string(output.tensor.dims()[static_cast<size_t>(axis)]));
  if (is_binary) {
    json += "],\"parameters\":{\"binary_data_size\":" + std::to_string(binary_size(output.tensor)) +
            "}}";
    return {};
  }
  json += "],\"data\":[";
  Status status = append_elements(json, output.tensor);
  if (!status.ok()) return std::move(status).with_context("output " + runtime::quoted(output.name));
  if (json.back() == ',') json.pop_back();
  json += "]}";
  return {};
}

}  // namespace

Result<EncodedInfer> encode_infer(const InferResponse& response) {
  EncodedInfer encoded;
  std::string& json = encoded.body;
  json = "{\"model_name\":";
  append_name(json, response.model);
  json += ",\"model_version\":";
  append_name(json, response.version);
  if (response.id) {
    json += ",\"id\":";
    append_name(json, *response.id);
  }
  json += ",\"outputs\":[";
  bool has_binary = false;
  for (size_t i = 0; i < response.outputs.size(); ++i) {
    if (i > 0) json += ',';
    SCOPEVM_RETURN_IF_ERROR(append_output(json, response.outputs[i], response.is_binary[i]));
    has_binary |= response.is_binary[i];
  }
  json += "]}";
  if (!has_binary) return encoded;
  encoded.json_bytes = json.size();
  for (size_t i = 0; i < response.outputs.size(); ++i)
    if (response.is_binary[i]) append_binary(encoded.body, response.outputs[i].tensor);
  return encoded;
}

}  // namespace scopevm::serve
