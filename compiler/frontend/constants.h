// Bytes -> sv.constant ops.
#pragma once

#include "compiler/frontend/onnx_file.h"
#include "compiler/graph/graph_ops.h"
#include "mlir/IR/Builders.h"

namespace scopevm::compiler::frontend {

// Few elements become a dense attribute, which prints as numbers; more become a resource that
// shares the bytes and keeps their owner alive as long as the context lives.
mlir::Value make_constant(mlir::OpBuilder& builder, mlir::Location location,
                          const TensorBytes& tensor, llvm::StringRef name);

// A rank-0 constant; integers truncate, and of str it is the empty text.
mlir::Value make_scalar(mlir::OpBuilder& builder, mlir::Location location, double value,
                        DType dtype);

}  // namespace scopevm::compiler::frontend
