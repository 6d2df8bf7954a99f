// Builds the blocked forms of convolutions; see the header.
#include "compiler/layouts/blocked/convolution.h"

#include "compiler/graph/convolution/window.h"
#include "compiler/layouts/blocked/blocked.h"
#include "compiler/layouts/conv_problem.h"

namespace scopevm::compiler::layouts {
namespace {

using graph::TensorType;
using graph::type_of;

mlir::Value with_bias(mlir::OpBuilder& builder, mlir::Value result, mlir::Value bias) {
  if (!bias) return result;
  return builder.create<graph::AddOp>(
      result.getLoc(), result.getType(), result,
      blocked_bias(builder, bias.getDefiningOp<graph::ConstantOp>()));
}

mlir::Value create(mlir::OpBuilder& builder, graph::ConvOp op, schedule::ConvForm form,
                   mlir::Value x) {
  const TensorType type = blocked_type(type_of(op.getResult()));
  mlir::Value w = op.getW();
  const auto group = static_cast<int64_t>(op.getGroup());
  const int64_t merged = schedule::merged_groups(problem_of(op));
  if (merged > 1) w = merged_weights(builder, w.getDefiningOp<graph::ConstantOp>(), group, merged);
  const bool is_winograd = form.algorithm == schedule::ConvAlgorithm::kWinograd;
  const mlir::Value result = builder.create<graph::BlockedConvOp>(
      op.getLoc(), type, x, w, op.getStridesAttr(), op.getPadsAttr(), op.getDilationsAttr(),
      builder.getI64IntegerAttr(group / merged), is_winograd ? builder.getUnitAttr() : nullptr,
      form.group_blocks != 0 ? builder.getStringAttr(form.text()) : nullptr);
  return with_bias(builder, result, op.getBias());
}

// A convolution with few output channels: a block has those of adjacent pixels.
mlir::Value create_narrow(mlir::OpBuilder& builder, graph::ConvOp op, mlir::Value x) {
  const int64_t pixels = schedule::pixels_per_block(problem_of(op)), stride = op.getStrides()[1];
  const llvm::ArrayRef<int64_t> pads = op.getPads();
  const mlir::Value w =
      pixel_weights(builder, op.getW().getDefiningOp<graph::ConstantOp>(), pixels, stride);
  const TensorType type = type_of(op.getResult());
  const DimExpr n = type.getDim(0), rows = type.getDim(1), height = type.getDim(2);
  const DimExpr width = type.getDim(3), blocks = ceildiv(width, pixels);
  mlir::Value y = builder.create<graph::BlockedConvOp>(
      op.getLoc(), type.withShape({n, 1, height, blocks, graph::kChannelBlock}), x, w,
      builder.getDenseI64ArrayAttr({op.getStrides()[0], pixels * stride}),
      builder.getDenseI64ArrayAttr({pads[0], pads[1], pads[2], pads[3] + (pixels - 1) * stride}),
      op.getDilationsAttr(), op.getGroupAttr(), /*winograd=*/nullptr,
      /*schedule=*/nullptr);
  if (op.getBias()) {
    const mlir::Value bias =
        pixel_bias(builder, op.getBias().getDefiningOp<graph::ConstantOp>(), pixels);
    y = builder.create<graph::AddOp>(op.getLoc(), y.getType(), y, bias);
  }
  y = reshape(builder, y, {n, height, blocks, graph::kChannelBlock});
  y = first_elements(builder, y, {n, height, blocks, rows * DimExpr(pixels)});
  y = reshape(builder, y, {n, height, blocks, pixels, rows});
  y = transpose(builder, y, {0, 4, 1, 2, 3});
  y = reshape(builder, y, {n, rows, height, blocks * DimExpr(pixels)});
  return first_elements(builder, y, type.getShape());
}

mlir::Value create(mlir::OpBuilder& builder, graph::ConvTransposeOp op, mlir::Value x) {
  const TensorType w = type_of(op.getW());
  const mlir::Value weights = phase_weights(builder, op.getW().getDefiningOp<graph::ConstantOp>(),
                                            op.getStrides(), op.getPads());
  const mlir::Value result = builder.create<graph::BlockedConvTransposeOp>(
      op.getLoc(), blocked_type(type_of(op.getResult())), x, weights,
      builder.getDenseI64ArrayAttr({*w.getDim(2).as_constant(), *w.getDim(3).as_constant()}),
      op.getStridesAttr(), op.getPadsAttr(), op.getOutputPadsAttr());
  return with_bias(builder, result, op.getBias());
}

}  // namespace

bool is_convolution(const Candidate& candidate) {
  return mlir::isa<graph::ConvOp, graph::ConvTransposeOp>(candidate.op);
}

mlir::Value blocked_convolution(mlir::OpBuilder& builder, const Candidate& candidate,
                                mlir::Value x) {
  if (auto conv = mlir::dyn_cast<graph::ConvTransposeOp>(candidate.op))
    return create(builder, conv, x);
  auto conv = mlir::cast<graph::ConvOp>(candidate.op);
  return candidate.has_blocked_result ? create(builder, conv, candidate.forms[candidate.form], x)
                                      : create_narrow(builder, conv, x);
}

}  // namespace scopevm::compiler::layouts
