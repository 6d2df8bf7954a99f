// Constants whose elements are rearranged for blocked images. All functions create f32 constants
// with the location and place of the given one.
#pragma once

#include "compiler/graph/graph_ops.h"
#include "mlir/IR/Builders.h"

namespace scopevm::compiler::layouts {

// Whether the value is a constant in the default scope.
bool is_constant(mlir::Value value);

// The dims of a static type.
llvm::SmallVector<int64_t> constant_dims(mlir::Value value);

// A constant of `dims`. `fill` writes its elements, which are 0 otherwise, from those of
// `constant`; both are in row-major order.
mlir::Value rearranged(mlir::OpBuilder& builder, mlir::Value constant, llvm::ArrayRef<int64_t> dims,
                       llvm::function_ref<void(const float* from, float* to)> fill);

// A constant of `dims` whose blocks of channels are `constant`, [outer][channels][inner].
mlir::Value blocked_elements(mlir::OpBuilder& builder, mlir::Value constant,
                             llvm::ArrayRef<int64_t> dims, int64_t outer, int64_t channels,
                             int64_t inner);

}  // namespace scopevm::compiler::layouts
