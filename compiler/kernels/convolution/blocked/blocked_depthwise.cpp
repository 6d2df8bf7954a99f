// Convolutions of blocked images (sv.blocked_conv) with narrow groups, such as one group per
// channel. A work item is some rows of one channel block. Grid: images x channel blocks x parts of
// an image.
#include "compiler/kernels/contraction/epilogue.h"
#include "compiler/kernels/convolution/blocked/depthwise_tiles.h"
#include "compiler/kernels/convolution/convolution.h"

namespace scopevm::compiler::kernels {

using graph::kChannelBlock;
using graph::TensorType;

llvm::LogicalResult lower_blocked_depthwise(const FusedContraction& fused,
                                            LoweringContext& context) {
  // A multiple of the rows of every tile.
  constexpr int64_t kRowsPerItem = 12;
  constexpr int64_t kTaskTaps = 1 << 18;
  mlir::Operation* op = fused.contraction;
  KernelBuilder k(context, op, "blocked_depthwise");
  DepthwiseTiles tiles(k, fused);
  Epilogue epilogue(fused);
  epilogue.declare(k);
  const TensorType type = fused.type();
  const auto w = mlir::cast<TensorType>(op->getOperand(1).getType());
  const DimExpr parts_dim = ceildiv(type.getDim(2), kRowsPerItem);
  const Term blocks = k.param(type.getDim(1)), parts = k.param(parts_dim);
  const Term height = k.param(type.getDim(2)), width = k.param(type.getDim(3));
  k.loop(k.begin(), k.end(), 1, [&](Term item) {
    const Term plane = quotient(item, parts);
    const Term first = remainder(item, parts) * kRowsPerItem;
    const Term image = quotient(plane, blocks), block = remainder(plane, blocks);
    epilogue.enter(k, {image, block});
    tiles.emit(image, block, first, min(height, first + kRowsPerItem),
               [&](Term sum, Term y, Term x, Term lane) {
                 epilogue.emit(k, sum, y * width + x, lane, k.lanes(DType::kF32), {});
               });
  });
  const DimExpr taps = DimExpr(kRowsPerItem * kChannelBlock) * w.getDim(1) * w.getDim(2) *
                       w.getDim(3) * type.getDim(3);
  return k.launch(type.getDim(0) * type.getDim(1) * parts_dim, grain_of(kTaskTaps, taps));
}

}  // namespace scopevm::compiler::kernels
