// Constants whose elements are rearranged for blocked images. All functions create constants with
// the element type, the location and the place of the given one.
#pragma once

#include <cstdint>

#include "compiler/graph/graph_ops.h"
#include "mlir/IR/Builders.h"

namespace scopevm::compiler::layouts {

// Whether the value is a constant in the default scope.
bool is_constant(mlir::Value value);

// The dims of a static type.
llvm::SmallVector<int64_t> constant_dims(mlir::Value value);

// A constant of `dims` whose elements `fill` writes.
mlir::Value filled(mlir::OpBuilder& builder, mlir::Value constant, llvm::ArrayRef<int64_t> dims,
                   llvm::function_ref<void(const void* from, void* to)> fill);

// A constant of `dims`. `fill(from, to)` copies elements of `constant`; the others are 0. Both are
// in row-major order, with the type uint8_t or uint32_t. REQUIRES: elements have 1 or 4 bytes.
template <typename Fill>
mlir::Value rearranged(mlir::OpBuilder& builder, mlir::Value constant, llvm::ArrayRef<int64_t> dims,
                       Fill fill) {
  const auto copy = [&]<typename T>(T /*type*/) {
    return filled(builder, constant, dims, [&](const void* from, void* to) {
      fill(static_cast<const T*>(from), static_cast<T*>(to));
    });
  };
  if (byte_size(graph::type_of(constant).getDtype()) == 1) return copy(uint8_t());
  return copy(uint32_t());
}

// A constant of `dims` whose blocks of channels are `constant`, [outer][channels][inner].
mlir::Value blocked_elements(mlir::OpBuilder& builder, mlir::Value constant,
                             llvm::ArrayRef<int64_t> dims, int64_t outer, int64_t channels,
                             int64_t inner);

}  // namespace scopevm::compiler::layouts
