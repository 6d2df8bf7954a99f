// Reads and writes messages; see convert.h.
#include "tools/serve/grpc/convert.h"

#include <google/protobuf/map.h>
#include <google/protobuf/repeated_field.h>

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "runtime/quoted.h"
#include "tools/serve/protocol/binary_tensor.h"
#include "tools/serve/protocol/datatype.h"
#include "tools/serve/protocol/invalid.h"

namespace scopevm::serve {
namespace {

using Message = inference::ModelInferRequest;
using Input = Message::InferInputTensor;
using MessageParameters = google::protobuf::Map<std::string, inference::InferParameter>;

Parameters parameters_in(const MessageParameters& given) {
  Parameters parameters;
  for (const auto& [name, value] : given) {
    using Parameter = inference::InferParameter;
    switch (value.parameter_choice_case()) {
      case Parameter::kBoolParam:
        parameters[name] = value.bool_param();
        break;
      case Parameter::kInt64Param:
        parameters[name] = value.int64_param();
        break;
      case Parameter::kStringParam:
        parameters[name] = value.string_param();
        break;
      case Parameter::kDoubleParam:
        parameters[name] = value.double_param();
        break;
      case Parameter::kUint64Param:
        // As in JSON: the smallest type that has the number.
        if (value.uint64_param() > INT64_MAX)
          parameters[name] = value.uint64_param();
        else
          parameters[name] = static_cast<int64_t>(value.uint64_param());
        break;
      case Parameter::PARAMETER_CHOICE_NOT_SET:
        break;
    }
  }
  return parameters;
}

// The elements of a typed field. `count` is the product of the dims.
template <typename T, typename Field>
Result<Tensor> tensor_of(const Field& field, DType dtype, const std::vector<int64_t>& dims) {
  SCOPEVM_ASSIGN_OR_RETURN(Tensor tensor, Tensor::allocate(dtype, dims));
  T* next = static_cast<T*>(tensor.data());
  for (const auto value : field) {
    *next = static_cast<T>(value);
    if constexpr (std::is_integral_v<T>)
      if (*next != value)
        return invalid("expected " + datatype_name(dtype) + ", given " + std::to_string(value));
    ++next;
  }
  return tensor;
}

Result<Tensor> strings_in(const google::protobuf::RepeatedPtrField<std::string>& field,
                          const std::vector<int64_t>& dims) {
  const std::vector<std::string_view> strings(field.begin(), field.end());
  return Tensor::from_strings(strings, dims);
}

// The number of elements in the field for the type; no value for a type without one.
std::optional<int> field_size(const inference::InferTensorContents& contents, DType dtype) {
  switch (dtype) {
    case DType::kBool:
      return contents.bool_contents_size();
    case DType::kI8:
    case DType::kI16:
    case DType::kI32:
      return contents.int_contents_size();
    case DType::kI64:
      return contents.int64_contents_size();
    case DType::kU8:
    case DType::kU16:
    case DType::kU32:
      return contents.uint_contents_size();
    case DType::kU64:
      return contents.uint64_contents_size();
    case DType::kF32:
      return contents.fp32_contents_size();
    case DType::kF64:
      return contents.fp64_contents_size();
    case DType::kStr:
      return contents.bytes_contents_size();
    default:
      return std::nullopt;
  }
}

Status check_contents(const inference::InferTensorContents& contents, DType dtype,
                      const std::vector<int64_t>& dims) {
  const std::optional<int> size = field_size(contents, dtype);
  if (!size) return invalid(datatype_name(dtype) + " has raw contents only");
  const int all = contents.bool_contents_size() + contents.int_contents_size() +
                  contents.int64_contents_size() + contents.uint_contents_size() +
                  contents.uint64_contents_size() + contents.fp32_contents_size() +
                  contents.fp64_contents_size() + contents.bytes_contents_size();
  if (all != *size) return invalid("the contents have elements of other types than the datatype");
  int64_t count = 1;
  for (const int64_t dim : dims) {
    const bool is_more = dim > 0 && count > *size / dim;
    count = is_more ? int64_t{*size} + 1 : count * dim;
  }
  if (count != *size)
    return invalid("the shape has another number of elements than the contents: " +
                   std::to_string(*size));
  return {};
}

Result<Tensor> typed_tensor(const inference::InferTensorContents& contents, DType dtype,
                            const std::vector<int64_t>& dims) {
  SCOPEVM_RETURN_IF_ERROR(check_contents(contents, dtype, dims));
  switch (dtype) {
    case DType::kBool:
      return tensor_of<bool>(contents.bool_contents(), dtype, dims);
    case DType::kI8:
      return tensor_of<int8_t>(contents.int_contents(), dtype, dims);
    case DType::kI16:
      return tensor_of<int16_t>(contents.int_contents(), dtype, dims);
    case DType::kI32:
      return tensor_of<int32_t>(contents.int_contents(), dtype, dims);
    case DType::kI64:
      return tensor_of<int64_t>(contents.int64_contents(), dtype, dims);
    case DType::kU8:
      return tensor_of<uint8_t>(contents.uint_contents(), dtype, dims);
    case DType::kU16:
      return tensor_of<uint16_t>(contents.uint_contents(), dtype, dims);
    case DType::kU32:
      return tensor_of<uint32_t>(contents.uint_contents(), dtype, dims);
    case DType::kU64:
      return tensor_of<uint64_t>(contents.uint64_contents(), dtype, dims);
    case DType::kF32:
      return tensor_of<float>(contents.fp32_contents(), dtype, dims);
    case DType::kF64:
      return tensor_of<double>(contents.fp64_contents(), dtype, dims);
    default:
      return strings_in(contents.bytes_contents(), dims);
  }
}

Result<Tensor> tensor_in(const Input& input, const std::string* raw) {
  const std::optional<DType> dtype = parse_datatype(input.datatype());
  if (!dtype) return invalid("unknown datatype " + runtime::quoted(input.datatype()));
  const std::vector<int64_t> dims(input.shape().begin(), input.shape().end());
  if (dims.size() > kMaxRank)
    return invalid("\"shape\": expected at most " + std::to_string(kMaxRank) + " dims");
  for (const int64_t dim : dims)
    if (dim < 0) return invalid("\"shape\": expected integers that are not negative");
  if (raw == nullptr) return typed_tensor(input.contents(), *dtype, dims);
  if (input.has_contents()) return invalid("expected either contents or raw_input_contents");
  return tensor_of_bytes(*raw, *dtype, dims);
}

}  // namespace

Result<InferRequest> request_of(const Message& message) {
  InferRequest request;
  if (!message.id().empty()) request.id = message.id();
  request.parameters = parameters_in(message.parameters());
  const bool is_raw = message.raw_input_contents_size() > 0;
  if (is_raw && message.raw_input_contents_size() != message.inputs_size())
    return invalid("raw_input_contents has " + std::to_string(message.raw_input_contents_size()) +
                   " elements for " + std::to_string(message.inputs_size()) + " inputs");
  std::set<std::string_view> names;
  for (int i = 0; i < message.inputs_size(); ++i) {
    const Input& input = message.inputs(i);
    if (!names.insert(input.name()).second)
      return invalid("input " + runtime::quoted(input.name()) + " occurs twice");
    Result<Tensor> tensor = tensor_in(input, is_raw ? &message.raw_input_contents(i) : nullptr);
    if (!tensor.ok()) return tensor.status().with_context("input " + runtime::quoted(input.name()));
    request.inputs.push_back({input.name(), *std::move(tensor)});
  }
  request.is_binary = true;
  if (message.outputs_size() == 0) return request;
  names.clear();
  request.outputs.emplace();
  for (const auto& output : message.outputs()) {
    if (!names.insert(output.name()).second)
      return invalid("output " + runtime::quoted(output.name()) + " occurs twice");
    if (output.parameters().contains("classification"))
      return invalid("output " + runtime::quoted(output.name()) +
                     ": \"classification\" is not supported");
    request.outputs->push_back({output.name(), true});
  }
  return request;
}

void write_response(const InferResponse& response, inference::ModelInferResponse& message) {
  message.set_model_name(response.model);
  message.set_model_version(response.version);
  if (response.id) message.set_id(*response.id);
  for (const NamedTensor& output : response.outputs) {
    auto& tensor = *message.add_outputs();
    tensor.set_name(output.name);
    tensor.set_datatype(datatype_name(output.tensor.dtype()));
    for (const int64_t dim : output.tensor.dims()) tensor.add_shape(dim);
    std::string& raw = *message.add_raw_output_contents();
    raw.reserve(binary_size(output.tensor));
    append_binary(raw, output.tensor);
  }
}

grpc::Status grpc_status(const Status& status) {
  const auto code = [&] {
    switch (status.code()) {
      case StatusCode::kOk:
        return grpc::StatusCode::OK;
      case StatusCode::kInvalidArgument:
        return grpc::StatusCode::INVALID_ARGUMENT;
      case StatusCode::kNotFound:
        return grpc::StatusCode::NOT_FOUND;
      case StatusCode::kUnsupported:
        return grpc::StatusCode::UNIMPLEMENTED;
      case StatusCode::kOutOfMemory:
      case StatusCode::kResourceLimit:
        return grpc::StatusCode::RESOURCE_EXHAUSTED;
      case StatusCode::kCancelled:
        return grpc::StatusCode::CANCELLED;
      case StatusCode::kDeadlineExceeded:
        return grpc::StatusCode::DEADLINE_EXCEEDED;
      default:
        return grpc::StatusCode::INTERNAL;
    }
  };
  return {code(), std::string(status.message())};
}

}  // namespace scopevm::serve
