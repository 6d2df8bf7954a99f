// Replaces a layer normalisation that an exporter wrote as separate ops by one sv.layer_norm:
//
//   centred = x - mean(x);  centred / sqrt(mean(centred * centred) + epsilon) * scale + bias
//
// Also expands the scale and bias of an sv.layer_norm to all normalised dims if they broadcast.
#include <bit>

#include "compiler/graph/rewrite/placement_attributes.h"
#include "compiler/graph/rewrite/rewrites.h"
#include "compiler/graph/type_rule.h"
#include "compiler/graph/values/elements.h"

namespace scopevm::compiler::graph {
namespace {

std::optional<float> scalar_of(mlir::Value value) {
  if (type_of(value).getDtype() != DType::kF32) return std::nullopt;
  const std::optional<uint64_t> bits = splat_bits(value.getDefiningOp());
  if (!bits) return std::nullopt;
  return std::bit_cast<float>(static_cast<uint32_t>(*bits));
}

// The first reduced axis, if `op` is a mean over the last dims that keeps them with size 1.
std::optional<int64_t> axis_of_mean(ReduceMeanOp op) {
  if (!op || !op.getKeepDims() || op.getAxes().empty()) return std::nullopt;
  int64_t rank = type_of(op.getX()).getRank(), count = static_cast<int64_t>(op.getAxes().size());
  // Axes are ascending and end at the last dim, so they are contiguous if the first one matches.
  if (op.getAxes().back() != rank - 1 || op.getAxes().front() != rank - count) return std::nullopt;
  return op.getAxes().front();
}

struct Standardised {
  mlir::Value x;
  int64_t axis;
  float epsilon;
};

// Matches centred / sqrt(mean(centred^2) + epsilon), or centred times the reciprocal of that square
// root. can_combine() must hold for `end` and each matched op.
std::optional<Standardised> match_standardised(mlir::Value value, mlir::Operation* end) {
  SqrtOp sqrt;
  SubOp centred;
  if (auto div = value.getDefiningOp<DivOp>()) {
    centred = div.getA().getDefiningOp<SubOp>();
    sqrt = div.getB().getDefiningOp<SqrtOp>();
  } else if (auto mul = value.getDefiningOp<MulOp>()) {
    centred = mul.getA().getDefiningOp<SubOp>();
    if (auto reciprocal = mul.getB().getDefiningOp<ReciprocalOp>();
        reciprocal && can_combine(reciprocal, end))
      sqrt = reciprocal.getX().getDefiningOp<SqrtOp>();
  }
  if (!centred || !sqrt) return std::nullopt;
  auto mean = centred.getB().getDefiningOp<ReduceMeanOp>();
  std::optional<int64_t> axis = axis_of_mean(mean);
  if (!axis || mean.getX() != centred.getA()) return std::nullopt;
  auto sum = sqrt.getX().getDefiningOp<AddOp>();
  if (!sum) return std::nullopt;
  std::optional<float> epsilon = scalar_of(sum.getB());
  auto variance = sum.getA().getDefiningOp<ReduceMeanOp>();
  if (!epsilon || !variance || axis_of_mean(variance) != axis) return std::nullopt;
  // pow(centred, 2) has this form as well: rewrite_pow() turns it into a product.
  auto square = variance.getX().getDefiningOp<MulOp>();
  if (!square || square.getA() != centred.getResult() || square.getB() != centred.getResult())
    return std::nullopt;
  for (mlir::Operation* op : std::initializer_list<mlir::Operation*>{
           value.getDefiningOp(), centred, sqrt, mean, sum, variance, square})
    if (!can_combine(op, end)) return std::nullopt;
  return Standardised{centred.getA(), *axis, *epsilon};
}

// True if the shape of `value` is that of the normalised dims of x, from `axis` on.
bool is_parameter(mlir::Value value, TensorType x, int64_t axis) {
  return type_of(value).getShape() == x.getShape().drop_front(axis);
}

// `value` expanded to the normalised dims. Returns `value` itself if it is null, has these dims
// already or does not broadcast to them. If dims are not known to be equal at compile time, the
// expand adds a request check. The reshape then replaces the dims by those of x.
mlir::Value as_parameter(mlir::Value value, LayerNormOp op, mlir::OpBuilder& builder) {
  TensorType x = type_of(op.getX());
  auto axis = static_cast<int64_t>(op.getAxis());
  if (!value || is_parameter(value, x, axis)) return value;
  llvm::ArrayRef<DimExpr> dims = x.getShape().drop_front(axis);
  auto shape = broadcast_shapes(type_of(value).getShape(), dims);
  if (!shape || shape->size() != dims.size()) return value;
  auto attribute = [&](llvm::ArrayRef<DimExpr> target) {
    return DimsAttr::get(builder.getContext(), target);
  };
  mlir::Location location = op.getLoc();  // checks of the expand are reported for the normalisation
  value =
      builder.create<ExpandOp>(location, type_of(value).withShape(*shape), value, attribute(dims));
  if (is_parameter(value, x, axis)) return value;
  return builder.create<ReshapeOp>(location, type_of(value).withShape(dims), value,
                                   attribute(dims));
}

mlir::Value rewrite_parameters(LayerNormOp op, mlir::OpBuilder& builder) {
  TensorType x = type_of(op.getX());
  auto axis = static_cast<int64_t>(op.getAxis());
  if (axis < 0 || axis >= x.getRank()) return {};
  mlir::Value scale = as_parameter(op.getScale(), op, builder);
  mlir::Value bias = as_parameter(op.getBias(), op, builder);
  if (scale == op.getScale() && bias == op.getBias()) return {};
  return builder.create<LayerNormOp>(op.getLoc(), type_of(op.getResult()), op.getX(), scale, bias,
                                     op.getAxisAttr(), op.getEpsilonAttr());
}

}  // namespace

// Starts at the addition of the bias. A normalisation with only a scale is not rewritten.
mlir::Value rewrite_normalisation(AddOp add, mlir::OpBuilder& builder) {
  if (type_of(add.getResult()).getDtype() != DType::kF32) return {};
  // Addition and multiplication commute, so exporters write both operands in either order.
  for (bool swap_bias : {false, true}) {
    auto scaled = (swap_bias ? add.getB() : add.getA()).getDefiningOp<MulOp>();
    mlir::Value bias = swap_bias ? add.getA() : add.getB();
    if (!scaled || !can_combine(scaled, add)) continue;
    for (bool swap_scale : {false, true}) {
      mlir::Value normal = swap_scale ? scaled.getB() : scaled.getA();
      mlir::Value scale = swap_scale ? scaled.getA() : scaled.getB();
      std::optional<Standardised> found = match_standardised(normal, add);
      if (!found) continue;
      TensorType x = type_of(found->x);
      // A layer normalisation has parameters of exactly the normalised dims and a result of the
      // type of x.
      if (x != add.getResult().getType() || !is_parameter(scale, x, found->axis) ||
          !is_parameter(bias, x, found->axis))
        continue;
      return builder.create<LayerNormOp>(add.getLoc(), x, found->x, scale, bias,
                                         static_cast<uint64_t>(found->axis),
                                         llvm::APFloat(found->epsilon));
    }
  }
  return {};
}

void LayerNormOp::getCanonicalizationPatterns(mlir::RewritePatternSet& patterns,
                                              mlir::MLIRContext*) {
  add_rewrites<LayerNormOp, rewrite_parameters>(patterns);
}

}  // namespace scopevm::compiler::graph
