// Evaluates a fused body at lanes of an iteration space: loads the body's operands at their strides
// and emits its ops.
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
  // Collects the operands of `body` and classifies their motion over the dims. Constants whose
  // elements are all equal become immediates. `inner_tag`, if non-negative, is the required tag of
  // the last dim.
  Evaluator(KernelBuilder& k, const FusedBody& body, llvm::ArrayRef<DimExpr> dims,
            llvm::ArrayRef<int> tags, int inner_tag = -1);

  const Space& space() const { return space_; }
  // The size of a dim in the kernel, a param of the launch. Declared by the constructor.
  Term size(size_t dim) const { return sizes_[dim]; }
  Terms sizes(size_t first, size_t end) const;

  // Allows `result` to overwrite a leaf that has its elements in the same order and size. With a
  // row op the result is written before the last pass over the row, so leaves read in that pass are
  // excluded.
  void allow_in_place(Buffer result, mlir::Operation* row_op = nullptr);

  // A position along all dims except the last, with the start of each operand there.
  struct Row {
    Terms bases;
    Terms held;  // scalars of operands that are constant along the last dim
  };
  // `linear` is the position's element index in the whole space, which is the start of linear
  // operands. Null if unknown.
  Row at(llvm::ArrayRef<Term> index, Term linear = {});

  // The value at `lanes`, in its arithmetic type. `known` holds values that are already computed;
  // values computed here are added to it.
  Term evaluate(mlir::Value value, const Row& row, const Lanes& lanes, TermMap& known);

  // True if `value` is loaded from memory without computation.
  bool is_leaf(mlir::Value value) const;

 private:
  struct Leaf {
    mlir::Value value;
    Buffer buffer;
    Terms strides;  // per dim; null where not needed
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
