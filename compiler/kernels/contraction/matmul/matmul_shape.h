// The dims of a matmul as batch x rows x columns x depth, and the operands' strides over the batch.
#pragma once

#include "compiler/kernels/contraction/epilogue.h"

namespace scopevm::compiler::kernels {

struct MatMulShape {
  explicit MatMulShape(const FusedContraction& fused);

  // Merges the batch dims into one if every operand's strides allow it.
  void collapse_batch(Epilogue& epilogue);

  OutputAxes axes;
  std::vector<DimExpr> batch;
  DimExpr rows = 1, columns = 1, depth;
  bool transpose_a = false, transpose_b = false;
  Access a, b;  // batch strides only
};

// The position of each operand's matrix for a batch element.
class BatchCoordinates {
 public:
  BatchCoordinates(KernelBuilder& k, const MatMulShape& shape);
  // The coordinates of a batch element along each batch dim.
  Terms coordinates(Term batch) const;
  Term a_start(CodeBuilder& e, llvm::ArrayRef<Term> at) const { return start(e, at, a_strides_); }
  Term b_start(CodeBuilder& e, llvm::ArrayRef<Term> at) const { return start(e, at, b_strides_); }

 private:
  static Term start(CodeBuilder& e, llvm::ArrayRef<Term> at, llvm::ArrayRef<Term> strides);
  Terms dims_, a_strides_, b_strides_;
};

}  // namespace scopevm::compiler::kernels
