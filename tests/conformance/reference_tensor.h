// Reads the tensors of ONNX's test data (protobuf files), and compares results with them, with the
// tolerances of ONNX's backend tests.
#pragma once

#include <string>
#include <vector>

#include "scopevm/tensor.h"
#include "scopevm/value_kind.h"

namespace scopevm::conformance {

// Contents of a data file: one tensor, the elements of a sequence, or nothing.
struct ReferenceValue {
  bool has_value = true;
  std::vector<Tensor> tensors;
};

// Reads a serialised TensorProto, SequenceProto or OptionalProto. Errors: kUnsupported, with the
// element type ("type:complex"), or "type:sequence" if the file is not of the given kind.
Result<ReferenceValue> read_value(const std::string& path, ValueKind kind);

// Returns the first difference, or an empty string if the tensors agree. Floating-point elements
// agree within a relative error of 1e-3 and a small absolute error; NaN agrees with NaN. All other
// types must be equal.
std::string difference(const Tensor& expected, const Tensor& actual);

}  // namespace scopevm::conformance
