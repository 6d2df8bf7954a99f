// Chooses the generator of a contraction.
#include "compiler/kernels/contraction/contraction.h"

namespace scopevm::compiler::kernels {

llvm::LogicalResult lower_contraction(mlir::Operation* op, LoweringContext& context) {
  if (std::optional<FusedAttention> attention = fusion::match_attention(op)) {
    lower_attention(*attention, context);
    return mlir::success();
  }
  llvm::FailureOr<FusedContraction> fused = fusion::match_contraction(op);
  if (failed(fused)) return mlir::failure();
  bool is_f32 = llvm::all_of(fused->contraction->getOperandTypes(), [](mlir::Type type) {
    return mlir::cast<graph::TensorType>(type).getDtype() == DType::kF32;
  });
  if (is_f32 && mlir::isa<graph::MatMulOp>(fused->contraction)) {
    lower_matmul(*fused, context);
  } else if (is_byte_matmul(*fused)) {
    lower_matmul(*fused, context);
  } else if (is_f32 && is_depthwise_conv(*fused)) {
    lower_depthwise_conv(*fused, context);
  } else if (is_f32 && is_image_conv(*fused)) {
    lower_image_conv(*fused, context);
  } else if (mlir::isa<graph::MatMulOp>(fused->contraction)) {
    lower_generic_matmul(*fused, context);
  } else {
    lower_generic_conv(*fused, context);
  }
  return mlir::success();
}

}  // namespace scopevm::compiler::kernels
