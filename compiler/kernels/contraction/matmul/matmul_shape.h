// The dims of a matmul as batch x rows x columns x depth, and the operands' strides over the batch.
#pragma once

#include "compiler/kernels/contraction/epilogue.h"

namespace scopevm::compiler::kernels {

struct MatMulShape {
  explicit MatMulShape(const FusedContraction& fused);

  // Returns the epilogue of the product. Merges the batch dims into one, also in the epilogue, if
  // every operand's strides allow it.
  Epilogue make_epilogue(const FusedContraction& fused);

  std::vector<DimExpr> batch;
  DimExpr rows = 1, columns = 1, depth;
  bool transpose_a = false, transpose_b = false;
  bool b_is_single = true;  // b is one matrix, which all batch elements share
  Access a, b;              // batch strides only
};

// The positions of the matrices of a and b for a batch element.
class BatchCoordinates {
 public:
  BatchCoordinates(KernelBuilder& k, const MatMulShape& shape);
  // The coordinates of batch element number `batch`, one per batch dim.
  Terms coordinates(Term batch) const;
  // The first element of the matrix at these coordinates.
  Term a_start(CodeBuilder& e, llvm::ArrayRef<Term> at) const { return start(e, at, a_strides_); }
  Term b_start(CodeBuilder& e, llvm::ArrayRef<Term> at) const { return start(e, at, b_strides_); }

 private:
  static Term start(CodeBuilder& e, llvm::ArrayRef<Term> at, llvm::ArrayRef<Term> strides);
  Terms dims_, a_strides_, b_strides_;
};

}  // namespace scopevm::compiler::kernels
