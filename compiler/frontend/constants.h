// Tensor bytes -> sv.constant ops.
#pragma once

#include "compiler/frontend/onnx_file.h"
#include "compiler/graph/graph_ops.h"
#include "mlir/IR/Builders.h"

namespace scopevm::compiler::frontend {

// Small tensors become a dense attribute, which prints as numbers. String tensors become an
// attribute with the strings. Larger tensors become a resource `name` that shares the bytes and
// keeps their owner alive as long as the context exists.
mlir::Value make_constant(mlir::OpBuilder& builder, mlir::Location location,
                          const TensorBytes& tensor, llvm::StringRef name);

// A rank-0 constant. For an integer type, `value` is truncated; for str, the constant is the empty
// string.
mlir::Value make_scalar(mlir::OpBuilder& builder, mlir::Location location, double value,
                        DType dtype);

}  // namespace scopevm::compiler::frontend
