// Evaluates a fused body for a vector of positions in an iteration space: loads the operands of the
// body and emits its ops. An operand that a kernel loads from a buffer is called a leaf.
#pragma once

#include "compiler/kernels/builder/kernel_builder.h"
#include "compiler/kernels/elementwise/fused_body.h"
#include "compiler/kernels/elementwise/space.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"

namespace scopevm::compiler::kernels {

using TermMap = llvm::DenseMap<mlir::Value, Term>;

class Evaluator {
 public:
  // Collects the operands of `body` and builds their iteration space over `dims`; see make_space
  // for `tags`. Constants whose elements are all equal become immediates, unless they are required
  // in a memory scope. If `inner_tag` is not negative, the last dim of the space has this tag.
  Evaluator(KernelBuilder& k, const FusedBody& body, llvm::ArrayRef<DimExpr> dims,
            llvm::ArrayRef<int> tags, int inner_tag = -1);

  const Space& space() const { return space_; }
  // The size of a dim of the space, a param of the launch.
  Term size(size_t dim) const { return sizes_[dim]; }
  Terms sizes(size_t first, size_t end) const;

  // Allows `result` to overwrite a leaf that has as many elements, in the same order and of the
  // same size. Leaves that share a buffer are excluded. A kernel with a row op stores intermediate
  // values in the result before its last pass over the row, so the leaves that this pass reads are
  // excluded as well.
  void allow_in_place(Buffer result, mlir::Operation* row_op = nullptr);

  // A position on all dims except the last. Both fields have one entry per leaf.
  struct Row {
    Terms bases;  // position in the buffer for index 0 of the last dim
    Terms held;   // the element, if it is the same along the last dim; else null
  };
  // `linear` is the element index of the row's start in the space, or null if unknown. It is the
  // base of linear operands; see Space::is_linear.
  Row at(llvm::ArrayRef<Term> index, Term linear = {});

  // Returns `value` at `lanes` of the row, in its arithmetic type. `known` contains values at these
  // lanes that are already computed. The values that are computed here are added to it.
  Term evaluate(mlir::Value value, const Row& row, const Lanes& lanes, TermMap& known);

  // True if `value` is loaded from memory without computation.
  bool is_leaf(mlir::Value value) const;

 private:
  struct Leaf {
    mlir::Value value;
    Buffer buffer;
    Terms strides;  // per dim; null if the stride is 0, or 1 on the last dim
  };

  void collect(mlir::Value value);
  llvm::SetVector<mlir::Value> read_late(mlir::Operation* row_op) const;
  Term immediate(mlir::Value value, int64_t count);
  Term load(size_t leaf, const Row& row, const Lanes& lanes);

  KernelBuilder& k_;
  const FusedBody& body_;
  Space space_;
  Terms sizes_;
  llvm::SmallVector<Leaf> leaves_;
  llvm::DenseMap<mlir::Value, uint64_t> immediates_;
};

}  // namespace scopevm::compiler::kernels
