// Selects the generator of a matrix product, or of a group with a matrix product.
#include "compiler/kernels/contraction/contraction.h"
#include "compiler/kernels/generators.h"

namespace scopevm::compiler::kernels {

llvm::LogicalResult lower_contraction(mlir::Operation* op, LoweringContext& context) {
  if (std::optional<FusedAttention> attention = match_attention(op))
    return lower_attention(*attention, context);
  llvm::FailureOr<FusedContraction> fused = fusion::match_contraction(op);
  if (failed(fused)) return mlir::failure();
  if (mlir::isa<graph::MatMulBlocksOp>(fused->contraction))
    return quantised_format(*fused, context) ? lower_matmul(*fused, context)
                                             : lower_generic_matmul(*fused, context);
  bool is_f32 = llvm::all_of(fused->contraction->getOperandTypes(), [](mlir::Type type) {
    return mlir::cast<graph::TensorType>(type).getDtype() == DType::kF32;
  });
  if (is_f32 || is_byte_matmul(*fused)) return lower_matmul(*fused, context);
  return lower_generic_matmul(*fused, context);
}

}  // namespace scopevm::compiler::kernels
