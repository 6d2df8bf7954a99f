// The values of one inference in the Open Inference Protocol, whatever their transport.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "scopevm/status.h"
#include "scopevm/tensor.h"

namespace scopevm::serve {

// An integer is uint64_t only if it exceeds int64_t.
using Parameter = std::variant<bool, int64_t, uint64_t, double, std::string>;
using Parameters = std::map<std::string, Parameter, std::less<>>;

struct NamedTensor {
  std::string name;
  Tensor tensor;
};

struct RequestedOutput {
  std::string name;
  bool is_binary = false;  // as bytes after the JSON of the response
};

struct InferRequest {
  std::optional<std::string> id;
  Parameters parameters;
  std::vector<NamedTensor> inputs;
  // The outputs and their order; none: all that the module returns.
  std::optional<std::vector<RequestedOutput>> outputs;
  std::optional<std::chrono::steady_clock::time_point> deadline;  // of the transport
  bool is_binary = false;             // of outputs, if the request lists none
  std::shared_ptr<const void> owner;  // keeps the bytes alive that tensors borrow
};

struct InferResponse {
  std::string model;
  std::string version;
  std::optional<std::string> id;
  std::vector<NamedTensor> outputs;
  std::vector<bool> is_binary;  // one per output
};

// A parameter of a type. Errors: kInvalidArgument (it has another type).
template <typename T>
Result<std::optional<T>> find_parameter(const Parameters& parameters, std::string_view name,
                                        std::string_view expected) {
  const auto found = parameters.find(name);
  if (found == parameters.end()) return std::optional<T>();
  if (const T* value = std::get_if<T>(&found->second)) return std::optional<T>(*value);
  return Status(StatusCode::kInvalidArgument,
                "parameter \"" + std::string(name) + "\": expected " + std::string(expected));
}

}  // namespace scopevm::serve
