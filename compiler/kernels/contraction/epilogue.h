// Epilogue: what a contraction does with its sums before they are stored: bias, then the group's
// elementwise ops on broadcast or full operands, then a store per result of the group.
#pragma once

#include "compiler/fusion/contraction_match.h"
#include "compiler/kernels/contraction/launch.h"
#include "llvm/ADT/DenseMap.h"

namespace scopevm::compiler::kernels {

using fusion::Access;
using fusion::FusedContraction;
using fusion::OutputAxes;

class Epilogue {
 public:
  // `bias` (may be null) is one value per row, as the group sees it.
  Epilogue(const FusedContraction& fused, const OutputAxes& axes, mlir::Value bias = nullptr);

  // No operand needs more than one coordinate for the whole batch.
  bool batch_is_one() const;
  void collapse_batch();

  // Declares operands, results and strides. Call after the contraction's own operands.
  void declare(Launch& launch, LoweringContext& context);

  // In the body, once per batch element: where its operands and results start.
  void enter(Emitter& emit, const Launch& launch, mlir::ValueRange batch_coordinates);
  // The contraction's result, and what the group makes of it, for one element (lanes == 1) or
  // `lanes` elements of one row; `mask` is null for all lanes. `sum` has the arithmetic type of the
  // contraction's element type.
  using ValueMap = llvm::DenseMap<mlir::Value, mlir::Value>;
  ValueMap evaluate(Emitter& emit, const Launch& launch, mlir::Value sum, mlir::Value row,
                    mlir::Value column, int64_t lanes, mlir::Value mask);
  // Evaluates, and stores the group's results.
  void emit(Emitter& emit, const Launch& launch, mlir::Value sum, mlir::Value row,
            mlir::Value column, int64_t lanes, mlir::Value mask);

 private:
  struct Tensor {
    mlir::Value value;  // as the group sees it
    Access access;
    Launch::Buffer buffer{};
    llvm::SmallVector<Launch::Param> batch_strides{};
    Launch::Param row_stride{};
    mlir::Value start{};  // of the current batch element
  };

  mlir::Value load(Emitter& emit, const Launch& launch, const Tensor& tensor, mlir::Value row,
                   mlir::Value column, int64_t lanes, mlir::Value mask);
  mlir::Value at(Emitter& emit, const Launch& launch, const Tensor& tensor, mlir::Value row,
                 mlir::Value column);

  const FusedContraction& fused_;
  OutputAxes axes_;
  mlir::Value bias_;
  llvm::SmallVector<Tensor> operands_, results_;
};

}  // namespace scopevm::compiler::kernels
