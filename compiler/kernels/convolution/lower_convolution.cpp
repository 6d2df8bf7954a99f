// Selects the generator of a convolution, or of a group with a convolution.
#include "compiler/graph/convolution/window.h"
#include "compiler/kernels/convolution/convolution.h"
#include "compiler/kernels/generators.h"

namespace scopevm::compiler::kernels {

llvm::LogicalResult lower_convolution(mlir::Operation* op, LoweringContext& context) {
  if (const std::optional<FusedSeparable> separable = match_separable(op))
    return lower_separable_conv(*separable, context);
  llvm::FailureOr<FusedContraction> fused = fusion::match_contraction(op);
  if (failed(fused)) return mlir::failure();
  bool is_f32 = llvm::all_of(fused->contraction->getOperandTypes(), [](mlir::Type type) {
    return mlir::cast<graph::TensorType>(type).getDtype() == DType::kF32;
  });
  if (auto blocked = mlir::dyn_cast<graph::BlockedConvOp>(fused->contraction)) {
    const auto w = mlir::cast<graph::TensorType>(blocked.getW().getType());
    if (is_winograd_conv(*fused, context)) return lower_winograd_conv(*fused, context);
    return graph::has_narrow_groups(static_cast<int64_t>(blocked.getGroup()), w.getDim(0),
                                    w.getDim(1))
               ? lower_blocked_depthwise(*fused, context)
               : lower_blocked_conv(*fused, context);
  }
  if (mlir::isa<graph::BlockedConvTransposeOp>(fused->contraction))
    return lower_blocked_conv(*fused, context);
  if (is_f32 && is_depthwise_conv(*fused)) return lower_depthwise_conv(*fused, context);
  if (is_f32 && is_image_conv(*fused)) return lower_image_conv(*fused, context);
  return lower_generic_conv(*fused, context);
}

}  // namespace scopevm::compiler::kernels
