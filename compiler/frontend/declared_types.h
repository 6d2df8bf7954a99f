// The types that an ONNX graph declares for its values, next to those that the import infers.
#pragma once

#include <string>

#include "compiler/graph/graph_ops.h"
#include "onnx/onnx_pb.h"

namespace scopevm::compiler::frontend {

enum class Contradiction {
  kNone,
  kDims,         // the ranks differ, or two dims that cannot be equal. ONNX Runtime warns, too.
  kElementType,  // ONNX Runtime refuses the model, too.
};

// How the declared type of a value contradicts its type. Named dims agree with all dims.
Contradiction contradiction(const onnx::TypeProto& declared, graph::TensorType type);

// `f32[n, 4]`, with `?` for a dim without value and name, and `f32` for an unknown rank. REQUIRES:
// a tensor type.
std::string text_of(const onnx::TypeProto& declared);

}  // namespace scopevm::compiler::frontend
