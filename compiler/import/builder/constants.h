// Tensor bytes -> sv.constant ops.
#pragma once

#include "compiler/import/builder/graph_builder.h"
#include "compiler/import/model/onnx_file.h"

namespace scopevm::compiler::frontend {

// Small tensors become a dense attribute, which prints as numbers. String tensors become an
// attribute with the strings. Larger tensors become a resource `name` that shares the bytes and
// keeps their owner alive as long as the context exists.
mlir::Value make_constant(GraphBuilder& builder, const TensorBytes& tensor, llvm::StringRef name);

// A rank-0 constant. For an integer type, `value` is truncated; for str, the constant is the empty
// string.
mlir::Value make_scalar(GraphBuilder& builder, double value, DType dtype);

// The elements of a constant of type f32 or f64.
llvm::SmallVector<float> float_elements(graph::ConstantOp constant);

}  // namespace scopevm::compiler::frontend
