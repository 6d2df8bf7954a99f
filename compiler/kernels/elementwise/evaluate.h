// Evaluates a fused body at lanes of an iteration space: loads what the body reads, where the
// space says it lies, and emits its ops.
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
  // Collects what `body` reads and classifies it over the dims. Constants whose elements are all
  // equal become immediates. `inner_tag`, if not negative, is the tag that the last dim must have.
  Evaluator(KernelBuilder& k, const FusedBody& body, llvm::ArrayRef<DimExpr> dims,
            llvm::ArrayRef<int> tags, int inner_tag = -1);

  const Space& space() const { return space_; }
  // The size of a dim in the kernel; a param of the launch. Declared by the constructor.
  Term size(size_t dim) const { return sizes_[dim]; }
  Terms sizes(size_t first, size_t end) const;

  // `result` may overwrite a leaf that has its elements in the same order and size. With a row op,
  // the result is written before the row's last pass: only leaves that are not read then.
  void allow_in_place(Buffer result, mlir::Operation* row_op = nullptr);

  // One position of all dims but the last: where each operand's elements start there.
  struct Row {
    Terms bases;
    Terms held;  // scalars of operands that stay along the last dim
  };
  // `linear` is the position's element index in the whole space: what linear operands start at.
  // Null when unknown.
  Row at(llvm::ArrayRef<Term> index, Term linear = {});

  // The value at lanes, in arithmetic type. `known` has values computed otherwise, and gets those
  // computed here.
  Term evaluate(mlir::Value value, const Row& row, const Lanes& lanes, TermMap& known);

  // True when `value` is read from memory as it is.
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
