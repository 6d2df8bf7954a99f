// The test data's tensors: ONNX's protobuf files to scopevm tensors, and the comparison with what
// ONNX's own backend tests allow.
#pragma once

#include <string>
#include <vector>

#include "scopevm/tensor.h"
#include "scopevm/value_kind.h"

namespace scopevm::conformance {

// What a data file holds: one tensor, those of a sequence, or nothing.
struct ReferenceValue {
  bool has_value = true;
  std::vector<Tensor> tensors;
};

// Reads a serialised TensorProto, SequenceProto or OptionalProto. Errors: kUnsupported names the
// element type ("type:complex"), or says "type:sequence" for a file that is none of the kind.
Result<ReferenceValue> read_value(const std::string& path, ValueKind kind);

// Empty if `actual` agrees with `expected`, else the first difference. Floating point agrees within
// a relative 1e-3 and a small absolute error, NaN with NaN; everything else must be equal.
std::string difference(const Tensor& expected, const Tensor& actual);

}  // namespace scopevm::conformance
