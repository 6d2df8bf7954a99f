// Reads tensors from the protobuf files of ONNX's test data. Compares results with them, within
// tolerances close to those of ONNX's backend tests.
#pragma once

#include <string>
#include <vector>

#include "scopevm/tensor.h"
#include "scopevm/value_kind.h"

namespace scopevm::conformance {

// Contents of a data file: one tensor, or the tensors of a sequence.
struct ReferenceValue {
  bool has_value = true;  // false for an optional without a value
  std::vector<Tensor> tensors;
};

// Reads a serialised TensorProto, SequenceProto or OptionalProto, as `kind` requires.
Result<ReferenceValue> read_value(const std::string& path, ValueKind kind);

// Errors that are accepted in addition to those of difference().
struct Tolerance {
  int bytes = 0;          // of 8-bit integers
  double of_largest = 0;  // of floats, as a part of the largest finite element of the tensor
};

// Returns the first difference, or an empty string if the tensors agree. Floating-point elements
// agree within a relative error of 1e-3 (bf16: 1/128) plus an absolute error of 1e-6. NaN agrees
// with NaN. Elements of other types must be equal.
std::string difference(const Tensor& expected, const Tensor& actual, const Tolerance& accepted);

}  // namespace scopevm::conformance
