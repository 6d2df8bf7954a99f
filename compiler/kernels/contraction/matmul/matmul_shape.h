// The dims of a matmul as batch x rows x columns x depth, and the operands' strides over the batch.
#pragma once

#include "compiler/kernels/contraction/epilogue.h"

namespace scopevm::compiler::kernels {

struct MatMulShape {
  explicit MatMulShape(const FusedContraction& fused);

  // Makes the batch one dim when nothing needs its dims apart.
  void collapse_batch(Epilogue& epilogue);

  OutputAxes axes;
  std::vector<DimExpr> batch;
  DimExpr rows = 1, columns = 1, depth;
  bool transpose_a = false, transpose_b = false;
  Access a, b;  // batch strides only
};

// The params that say where an operand's matrix starts.
class BatchCoordinates {
 public:
  BatchCoordinates(Launch& launch, const MatMulShape& shape);
  llvm::SmallVector<mlir::Value> coordinates(Emitter& emit, const Launch& launch,
                                             mlir::Value batch) const;
  mlir::Value a_start(Emitter& emit, const Launch& launch, mlir::ValueRange at) const {
    return start(emit, launch, at, a_strides_);
  }
  mlir::Value b_start(Emitter& emit, const Launch& launch, mlir::ValueRange at) const {
    return start(emit, launch, at, b_strides_);
  }

 private:
  static mlir::Value start(Emitter& emit, const Launch& launch, mlir::ValueRange at,
                           llvm::ArrayRef<Launch::Param> strides);
  llvm::SmallVector<Launch::Param> dims_, a_strides_, b_strides_;
};

}  // namespace scopevm::compiler::kernels
