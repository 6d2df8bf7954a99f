// The types that an ONNX graph declares for its values, next to those that the import infers.
#pragma once

#include <string>

#include "compiler/graph/graph_ops.h"
#include "onnx/onnx_pb.h"

namespace scopevm::compiler::frontend {

enum class Contradiction {
  kNone,
  kDims,  // the ranks differ, or two dims that cannot be equal. ONNX Runtime warns, too.
  // The element types differ, or one is a tensor and the other one a sequence or an optional. ONNX
  // Runtime refuses the model, too.
  kType,
};

// How the declared type of a value contradicts its type. Named dims agree with all dims, and the
// dims of the elements of sequences and optionals are not compared.
Contradiction contradiction(const onnx::TypeProto& declared, mlir::Type type);

// `f32[n, 4]`, with `?` for a dim without value and name, and `f32` for an unknown rank;
// `sequence f32`. REQUIRES: contradiction(declared, ...) is not kNone.
std::string text_of(mlir::MLIRContext& context, const onnx::TypeProto& declared);

}  // namespace scopevm::compiler::frontend
