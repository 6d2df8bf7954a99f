// Reads requests with simdjson; see infer_json.h.
#include "tools/serve/protocol/infer_json.h"

#include <simdjson.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <numeric>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/quoted.h"
#include "tools/serve/protocol/binary_tensor.h"
#include "tools/serve/protocol/datatype.h"
#include "tools/serve/protocol/invalid.h"
#include "tools/serve/protocol/json_elements.h"

namespace scopevm::serve {
namespace {

using simdjson::dom::element;
using simdjson::dom::object;

constexpr char kBinarySize[] = "binary_data_size";

// A member of an object, if there is one. JSON's null denotes an absent member.
std::optional<element> member(object of, std::string_view name) {
  element value;
  if (of.at_key(name).get(value) != simdjson::SUCCESS || value.is_null()) return std::nullopt;
  return value;
}

template <typename T>
Result<std::optional<T>> optional_member(object of, std::string_view name,
                                         std::string_view expected) {
  const std::optional<element> value = member(of, name);
  if (!value) return std::optional<T>();
  T result;
  if (value->get(result) != simdjson::SUCCESS)
    return invalid(runtime::quoted(name) + ": expected " + std::string(expected));
  return std::optional<T>(result);
}

template <typename T>
Result<T> required_member(object of, std::string_view name, std::string_view expected) {
  SCOPEVM_ASSIGN_OR_RETURN(const std::optional<T> value, optional_member<T>(of, name, expected));
  if (!value)
    return invalid(runtime::quoted(name) + " is missing: expected " + std::string(expected));
  return *value;
}

Result<Parameters> parameters_of(object of) {
  Parameters parameters;
  SCOPEVM_ASSIGN_OR_RETURN(const std::optional<object> given,
                           optional_member<object>(of, "parameters", "an object"));
  if (!given) return parameters;
  for (const auto& [name, value] : *given) {
    bool flag = false;
    int64_t integer = 0;
    uint64_t large = 0;
    double number = 0;
    std::string_view text;
    if (value.get(flag) == simdjson::SUCCESS)
      parameters.emplace(name, flag);
    else if (value.get(integer) == simdjson::SUCCESS)
      parameters.emplace(name, integer);
    else if (value.get(large) == simdjson::SUCCESS)
      parameters.emplace(name, large);
    else if (value.get(number) == simdjson::SUCCESS)
      parameters.emplace(name, number);
    else if (value.get(text) == simdjson::SUCCESS)
      parameters.emplace(name, std::string(text));
    else if (!value.is_null())
      return invalid("parameter " + runtime::quoted(name) +
                     ": expected a boolean, a number or a string");
  }
  return parameters;
}

Result<std::vector<int64_t>> shape_of(object input) {
  SCOPEVM_ASSIGN_OR_RETURN(
      const simdjson::dom::array given,
      required_member<simdjson::dom::array>(input, "shape", "an array of integers"));
  std::vector<int64_t> dims;
  for (const element value : given) {
    int64_t dim = 0;
    if (value.get(dim) != simdjson::SUCCESS || dim < 0)
      return invalid("\"shape\": expected integers that are not negative");
    if (dims.size() == kMaxRank)
      return invalid("\"shape\": expected at most " + std::to_string(kMaxRank) + " dims");
    dims.push_back(dim);
  }
  return dims;
}

// Reads the inputs of a request and takes their binary data from the bytes after its JSON.
class InputReader {
 public:
  explicit InputReader(std::string_view binary) : binary_(binary) {}

  Result<NamedTensor> read(object input) {
    SCOPEVM_ASSIGN_OR_RETURN(const std::string_view name,
                             required_member<std::string_view>(input, "name", "a string"));
    Result<Tensor> tensor = read_tensor(input);
    if (!tensor.ok()) return tensor.status().with_context("input " + runtime::quoted(name));
    return NamedTensor{std::string(name), *std::move(tensor)};
  }

  Status finish() const {
    if (binary_.empty()) return {};
    return invalid(std::to_string(binary_.size()) + " bytes of binary data belong to no input");
  }

 private:
  Result<Tensor> read_tensor(object input) {
    SCOPEVM_ASSIGN_OR_RETURN(const std::string_view datatype,
                             required_member<std::string_view>(input, "datatype", "a string"));
    const std::optional<DType> dtype = parse_datatype(datatype);
    if (!dtype) return invalid("unknown datatype " + runtime::quoted(datatype));
    SCOPEVM_ASSIGN_OR_RETURN(const std::vector<int64_t> dims, shape_of(input));
    SCOPEVM_ASSIGN_OR_RETURN(const Parameters parameters, parameters_of(input));
    SCOPEVM_ASSIGN_OR_RETURN(const std::optional<int64_t> size,
                             find_parameter<int64_t>(parameters, kBinarySize, "an integer"));
    const std::optional<element> data = member(input, "data");
    if (size.has_value() == data.has_value())
      return invalid("expected either \"data\" or the parameter \"binary_data_size\"");
    if (data) return tensor_of_json(*data, *dtype, dims);
    if (*size < 0 || static_cast<uint64_t>(*size) > binary_.size())
      return invalid("binary_data_size is " + std::to_string(*size) + ", but " +
                     std::to_string(binary_.size()) + " bytes follow");
    const std::string_view bytes = binary_.substr(0, static_cast<size_t>(*size));
    binary_.remove_prefix(bytes.size());
    return tensor_of_bytes(bytes, *dtype, dims);
  }

  std::string_view binary_;
};

Result<std::vector<RequestedOutput>> outputs_of(simdjson::dom::array given, bool is_binary) {
  std::vector<RequestedOutput> outputs;
  std::set<std::string_view> names;
  for (const element value : given) {
    object output;
    if (value.get(output) != simdjson::SUCCESS) return invalid("\"outputs\": expected objects");
    SCOPEVM_ASSIGN_OR_RETURN(const std::string_view name,
                             required_member<std::string_view>(output, "name", "a string"));
    if (!names.insert(name).second)
      return invalid("output " + runtime::quoted(name) + " occurs twice");
    Result<Parameters> parameters = parameters_of(output);
    if (!parameters.ok())
      return parameters.status().with_context("output " + runtime::quoted(name));
    SCOPEVM_ASSIGN_OR_RETURN(const std::optional<bool> binary,
                             find_parameter<bool>(*parameters, "binary_data", "a boolean"));
    if (parameters->contains("classification"))
      return invalid("output " + runtime::quoted(name) + ": \"classification\" is not supported");
    outputs.push_back({std::string(name), binary.value_or(is_binary)});
  }
  return outputs;
}

Result<InferRequest> request_of(object document, std::string_view binary) {
  InferRequest request;
  SCOPEVM_ASSIGN_OR_RETURN(const std::optional<std::string_view> id,
                           optional_member<std::string_view>(document, "id", "a string"));
  if (id) request.id = std::string(*id);
  SCOPEVM_ASSIGN_OR_RETURN(request.parameters, parameters_of(document));
  SCOPEVM_ASSIGN_OR_RETURN(
      const std::optional<bool> is_binary,
      find_parameter<bool>(request.parameters, "binary_data_output", "a boolean"));
  request.is_binary = is_binary.value_or(false);
  SCOPEVM_ASSIGN_OR_RETURN(
      const simdjson::dom::array inputs,
      required_member<simdjson::dom::array>(document, "inputs", "an array of objects"));
  InputReader reader(binary);
  std::set<std::string> names;
  for (const element value : inputs) {
    object input;
    if (value.get(input) != simdjson::SUCCESS) return invalid("\"inputs\": expected objects");
    SCOPEVM_ASSIGN_OR_RETURN(request.inputs.emplace_back(), reader.read(input));
    if (!names.insert(request.inputs.back().name).second)
      return invalid("input " + runtime::quoted(request.inputs.back().name) + " occurs twice");
  }
  SCOPEVM_RETURN_IF_ERROR(reader.finish());
  SCOPEVM_ASSIGN_OR_RETURN(
      const std::optional<simdjson::dom::array> outputs,
      optional_member<simdjson::dom::array>(document, "outputs", "an array of objects"));
  // An empty list requests all outputs, as an absent one.
  if (!outputs || outputs->begin() == outputs->end()) return request;
  SCOPEVM_ASSIGN_OR_RETURN(request.outputs, outputs_of(*outputs, request.is_binary));
  return request;
}

// The dims of an input whose elements have `bytes` bytes in total: at most one is not a constant.
Result<std::vector<int64_t>> dims_of_bytes(const TensorSignature& input, size_t bytes) {
  std::vector<int64_t> dims = constant_dims(input);
  if (std::ranges::count(dims, -1) > 1)
    return invalid("a raw request is for inputs with at most one dim that is not constant");
  const auto unknown = std::ranges::find(dims, -1);
  if (unknown == dims.end()) return dims;
  *unknown = 1;
  const int64_t known =
      std::accumulate(dims.begin(), dims.end(), byte_size(input.dtype), std::multiplies<>());
  if (known > 0) *unknown = static_cast<int64_t>(bytes) / known;
  return dims;
}

// A request without JSON: the body is the elements of the only input.
Result<InferRequest> raw_request(std::string_view bytes, const Signature& signature) {
  if (signature.inputs.size() != 1)
    return invalid("a raw request is for models with one input, and this one has " +
                   std::to_string(signature.inputs.size()));
  const TensorSignature& input = signature.inputs.front();
  InferRequest request;
  request.is_binary = true;
  Tensor tensor;
  if (input.dtype == DType::kStr) {
    SCOPEVM_ASSIGN_OR_RETURN(tensor,
                             Tensor::from_strings(std::vector<std::string_view>{bytes},
                                                  std::vector<int64_t>(input.dims.size(), 1)));
  } else {
    SCOPEVM_ASSIGN_OR_RETURN(const std::vector<int64_t> dims, dims_of_bytes(input, bytes.size()));
    SCOPEVM_ASSIGN_OR_RETURN(tensor, tensor_of_bytes(bytes, input.dtype, dims));
  }
  request.inputs.push_back({input.name, std::move(tensor)});
  return request;
}

}  // namespace

Result<InferRequest> decode_infer(std::shared_ptr<const std::string> body,
                                  std::optional<size_t> json_bytes, const Signature& signature) {
  const size_t size = json_bytes.value_or(body->size());
  if (size > body->size())
    return invalid("Inference-Header-Content-Length is " + std::to_string(size) +
                   ", but the body has " + std::to_string(body->size()) + " bytes");
  const std::string_view binary = std::string_view(*body).substr(size);
  Result<InferRequest> request = invalid("");
  if (size == 0 && json_bytes) {
    request = raw_request(binary, signature);
  } else {
    if (size > kMaxJsonBytes)
      return invalid("the JSON has " + std::to_string(size) + " bytes, more than " +
                     std::to_string(kMaxJsonBytes) + ": send tensors as binary data");
    simdjson::dom::parser parser;
    element document;
    const auto error = parser.parse(body->data(), size).get(document);
    if (error == simdjson::MEMALLOC) return Status(StatusCode::kOutOfMemory, "out of memory");
    if (error != simdjson::SUCCESS)
      return invalid(std::string("the body is not JSON: ") + simdjson::error_message(error));
    object members;
    if (document.get(members) != simdjson::SUCCESS) return invalid("expected a JSON object");
    request = request_of(members, binary);
  }
  if (request.ok()) request->owner = std::move(body);
  return request;
}

}  // namespace scopevm::serve
