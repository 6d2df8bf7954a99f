// The test data's tensors: ONNX's protobuf files to scopevm tensors, and the comparison with what
// ONNX's own backend tests allow.
#pragma once

#include <string>

#include "scopevm/tensor.h"

namespace scopevm::conformance {

// Reads a serialised TensorProto. Errors: kUnsupported names the element type ("type:complex"),
// kInvalidModel for a file that is not a tensor (sequences and optionals: "type:sequence").
Result<Tensor> read_tensor(const std::string& path);

// Empty if `actual` agrees with `expected`, else the first difference. Floating point agrees within
// a relative 1e-3 and a small absolute error, NaN with NaN; everything else must be equal.
std::string difference(const Tensor& expected, const Tensor& actual);

}  // namespace scopevm::conformance
