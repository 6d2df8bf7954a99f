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

// Reads a serialised TensorProto, SequenceProto or OptionalProto, as `kind` requires. Errors:
// kUnsupported, with the message "type:complex" for an element type that DType lacks, or
// "type:sequence" if the file cannot be read as the given kind; kInvalidModel if the data do not
// fill the shape.
Result<ReferenceValue> read_value(const std::string& path, ValueKind kind);

// Returns the first difference, or an empty string if the tensors agree. Floating-point elements
// agree within a relative error of 1e-3 (bf16: 1/128) plus an absolute error of 1e-6. NaN agrees
// with NaN. Elements of other types must be equal.
std::string difference(const Tensor& expected, const Tensor& actual);

}  // namespace scopevm::conformance
