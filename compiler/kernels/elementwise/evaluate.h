// Evaluates a fused body at lanes of an iteration space: loads what the body reads, where the
// space says it lies, and emits its ops.
#pragma once

#include "compiler/kernels/elementwise/lanes.h"
#include "llvm/ADT/SetVector.h"

namespace scopevm::compiler::kernels {

class Evaluator {
 public:
  // Collects what `body` reads and classifies it over the dims. Constants whose elements are all
  // equal become immediates. `inner_tag`, if not negative, is the tag that the last dim must have.
  Evaluator(KernelDraft& draft, const FusedBody& body, llvm::ArrayRef<DimExpr> dims,
            llvm::ArrayRef<int> tags, int inner_tag = -1);

  const Space& space() const { return space_; }
  // The size of a dim in the kernel; a param of the launch. Declared by the constructor.
  mlir::Value size(size_t dim) const { return draft_.param(sizes_[dim]); }
  llvm::SmallVector<mlir::Value> sizes(size_t first, size_t end) const;

  // `result` may overwrite a leaf that has its elements in the same order and size. With a row op,
  // the result is written before the row's last pass: only leaves that are not read then.
  void allow_in_place(Buffer result, mlir::Operation* row_op = nullptr);

  // One position of all dims but the last: where each operand's elements start there.
  struct Row {
    llvm::SmallVector<mlir::Value> bases;
    llvm::SmallVector<mlir::Value> held;  // scalars of operands that stay along the last dim
  };
  // `linear` is the position's element index in the whole space: what linear operands start at.
  // Null when unknown.
  Row at(llvm::ArrayRef<mlir::Value> index, mlir::Value linear = nullptr);

  // The value at lanes, in arithmetic type. `known` has values computed otherwise, and gets those
  // computed here.
  mlir::Value evaluate(mlir::Value value, const Row& row, const Lanes& lanes, ValueMap& known);

  // True when `value` is read from memory as it is.
  bool is_leaf(mlir::Value value) const;

 private:
  struct Leaf {
    mlir::Value value;
    Buffer buffer;
    llvm::SmallVector<Param> strides;  // per dim; none (-1) where not needed
  };

  void collect(mlir::Value value);
  llvm::SetVector<mlir::Value> read_late(mlir::Operation* row_op) const;
  mlir::Value immediate(mlir::Value value, int count);
  mlir::Value load(size_t leaf, const Row& row, const Lanes& lanes);

  KernelDraft& draft_;
  const FusedBody& body_;
  Space space_;
  llvm::SmallVector<Param> sizes_;
  llvm::SmallVector<Leaf> leaves_;
  llvm::DenseMap<mlir::Value, uint64_t> immediates_;
};

}  // namespace scopevm::compiler::kernels
