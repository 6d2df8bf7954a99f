// The axes along which requests of a model are joined into one call, and its results are divided.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "scopevm/module.h"
#include "scopevm/status.h"
#include "scopevm/tensor.h"
#include "tools/serve/model/model_config.h"

namespace scopevm::serve {

struct BatchAxes {
  static constexpr int64_t kNone = -1;

  std::string dim;               // the dimension
  std::vector<int64_t> inputs;   // the axis of the dimension in each input and output, or kNone:
  std::vector<int64_t> outputs;  // an input without it is equal in all requests of a call
};

// The axes of the dimension of the configuration, by default the only batch dim of the module.
// Errors: kInvalidArgument (not a batch dim, and not asserted to be one; a value that is not a
// tensor of whole numbers or floats; a value with the dimension in two dims).
Result<BatchAxes> batch_axes(const Signature& signature, const BatchConfig& config);

// The size of the dimension in the inputs of a request. Empty if they do not agree on it, or do not
// have it.
std::optional<int64_t> rows_in(std::span<const Tensor> inputs, const BatchAxes& axes);
// Whether requests can run in one call: their inputs have equal dims except for the dimension, and
// those without it are equal.
bool can_join(std::span<const Tensor> a, std::span<const Tensor> b, const BatchAxes& axes);

// Along an axis, the dims of all tensors but the axis are equal. kNone: the first tensor.
Result<Tensor> concatenated(std::span<const Tensor> tensors, int64_t axis);
// Elements [first, first + count) along an axis. A view of `tensor` if the axis is the first one.
// kNone: the tensor.
Result<Tensor> rows_of(const Tensor& tensor, int64_t axis, int64_t first, int64_t count);

}  // namespace scopevm::serve
