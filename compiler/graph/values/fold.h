// Constant folding: evaluates graph ops on constants at compile time. Each foldable op has a `fold`
// method (MLIR's hasFolder) in its family's folder. This header declares the functions they share.
#pragma once

#include "compiler/graph/graph_ops.h"
#include "compiler/graph/values/constant_array.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace scopevm::compiler::graph {

using ConstantArrays = llvm::SmallVector<ConstantArray, 3>;

// The folded value of an op with one result. `fill` computes the elements of the zero-initialised
// result and returns false on failure. Null if `fill` fails, if an operand is not constant, for a
// result much larger than the operands, and for strings.
mlir::OpFoldResult fold_tensor(
    mlir::Operation* op, llvm::ArrayRef<mlir::Attribute> operands,
    llvm::function_ref<bool(const ConstantArrays& x, ConstantArray& y)> fill);

// As fold_tensor, from the formula of an elementwise op. Elements are computed in f64 (floats) or
// i64 (integers) and rounded to the element type once.
mlir::OpFoldResult fold_elementwise(ElementwiseOp op, llvm::ArrayRef<mlir::Attribute> operands);

// Iterates over the coordinates of a shape in row-major order and tracks the offset into a strided
// array.
class Cursor {
 public:
  // `dims` must outlive the cursor.
  Cursor(llvm::ArrayRef<int64_t> dims, llvm::ArrayRef<int64_t> strides, int64_t start = 0)
      : dims_(dims), strides_(strides.begin(), strides.end()), index_(dims.size(), 0), at_(start) {}
  int64_t at() const { return at_; }
  void next() {
    for (size_t axis = dims_.size(); axis-- > 0;) {
      at_ += strides_[axis];
      if (++index_[axis] < dims_[axis]) return;
      at_ -= strides_[axis] * dims_[axis];
      index_[axis] = 0;
    }
  }

 private:
  llvm::ArrayRef<int64_t> dims_;
  llvm::SmallVector<int64_t> strides_;
  llvm::SmallVector<int64_t> index_;
  int64_t at_;
};

llvm::SmallVector<int64_t> row_major_strides(llvm::ArrayRef<int64_t> dims);
// Strides for reading `x` broadcast to `rank` dims; 0 along broadcast dims.
llvm::SmallVector<int64_t> broadcast_strides(const ConstantArray& x, size_t rank);
// y[i] = x[offset of the cursor at position i].
void gather_with(Cursor cursor, const ConstantArray& x, ConstantArray& y);

}  // namespace scopevm::compiler::graph
