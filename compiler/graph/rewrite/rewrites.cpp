// Canonicalization patterns, except those of layer normalisation (normalisation.cpp) and attention
// (attention.cpp).
#include "compiler/graph/rewrite/rewrites.h"

#include <bit>
#include <cmath>

#include "compiler/graph/rewrite/placement_attributes.h"
#include "compiler/graph/values/elements.h"

namespace scopevm::compiler::graph {
namespace {

// Distinguishes 0.0 from -0.0: adding 0.0 changes -0.0 to 0.0.
bool is_splat_of(mlir::Value value, double number) {
  const std::optional<double> splat = splat_of(value);
  return splat && *splat == number && std::signbit(*splat) == std::signbit(number);
}

// --- No-ops. ------------------------------------------------------------------------------------

// Replaces an op with a neutral constant, such as x * 1, by x if the type is unchanged.
mlir::Value neutral(mlir::Operation* op, double number, bool on_the_left_too) {
  mlir::Value a = op->getOperand(0), b = op->getOperand(1);
  mlir::Type type = op->getResult(0).getType();
  // The types differ if the constant enlarges x by broadcasting, or if the result has another
  // place.
  if (is_splat_of(b, number) && a.getType() == type) return a;
  if (on_the_left_too && is_splat_of(a, number) && b.getType() == type) return b;
  return {};
}

mlir::Value rewrite_pow(PowOp op, mlir::OpBuilder& builder) {
  mlir::Value x = op.getA();
  if (x.getType() != op.getResult().getType()) return {};
  std::optional<double> exponent = splat_of(op.getB());
  if (exponent == 1) return x;
  if (exponent == 2) return builder.create<MulOp>(op.getLoc(), op.getResult().getType(), x, x);
  return {};
}

mlir::Value rewrite_reshape(ReshapeOp op, mlir::OpBuilder& builder) {
  if (op.getX().getType() == op.getResult().getType()) return op.getX();
  auto inner = op.getX().getDefiningOp<ReshapeOp>();
  if (!inner || !can_combine(op, inner)) return {};
  // A reshape may carry a request check of its element count. The inner one is removed only if it
  // has none.
  if (type_of(inner.getX()).getElementCount() != type_of(inner.getResult()).getElementCount())
    return {};
  return builder.create<ReshapeOp>(op.getLoc(), op.getResult().getType(), inner.getX(),
                                   op.getDimsAttr());
}

bool is_identity(llvm::ArrayRef<int64_t> permutation) {
  for (size_t i = 0; i < permutation.size(); ++i)
    if (permutation[i] != static_cast<int64_t>(i)) return false;
  return true;
}

// True for a transpose that only moves dims of size 1: it keeps the order of elements, so it is a
// view.
bool keeps_order(TransposeOp op) {
  int64_t last = -1;
  for (int64_t axis : op.getPermutation()) {
    if (type_of(op.getX()).getDim(axis).is_constant(1)) continue;
    if (axis < last) return false;
    last = axis;
  }
  return true;
}

mlir::Value rewrite_transpose(TransposeOp op, mlir::OpBuilder& builder) {
  // A view must have the place of its operand.
  const bool stays = type_of(op.getX()).getPlace() == type_of(op.getResult()).getPlace();
  if (stays && is_identity(op.getPermutation())) return op.getX();
  if (stays && keeps_order(op))
    return builder.create<ReshapeOp>(
        op.getLoc(), op.getResult().getType(), op.getX(),
        DimsAttr::get(op.getContext(), type_of(op.getResult()).getShape()));
  auto inner = op.getX().getDefiningOp<TransposeOp>();
  if (!inner || !can_combine(op, inner)) return {};
  llvm::SmallVector<int64_t> permutation;
  // Composes the permutations: axis i of the result is axis outer[i] of the inner result, which is
  // axis inner[outer[i]] of x.
  for (int64_t axis : op.getPermutation()) permutation.push_back(inner.getPermutation()[axis]);
  return builder.create<TransposeOp>(op.getLoc(), op.getResult().getType(), inner.getX(),
                                     permutation);
}

// --- Folding constants into contractions. -------------------------------------------------------

// Returns the elements of the constant `value` as a tensor of rank 1. The constant must have a
// single element, or one element per channel of the tensor to which it is broadcast. That tensor
// has rank `rank`, and its dim 1 is the channels. Null for any other value.
mlir::Value channel_constant(mlir::Value value, int64_t rank, DimExpr channels,
                             mlir::OpBuilder& builder) {
  if (!value.getDefiningOp<ConstantOp>()) return {};
  llvm::ArrayRef<DimExpr> shape = type_of(value).getShape();
  if (static_cast<int64_t>(shape.size()) > rank) return {};
  // Broadcasting aligns dims at the end. If channel_axis is negative, the constant has no channel
  // axis.
  auto channel_axis = static_cast<int64_t>(shape.size()) - (rank - 1);
  for (int64_t axis = 0; axis < static_cast<int64_t>(shape.size()); ++axis)
    if (!shape[axis].is_constant(1) && (axis != channel_axis || shape[axis] != channels)) return {};
  DimExpr count = type_of(value).getElementCount();
  mlir::Location location = value.getLoc();
  mlir::MLIRContext* context = value.getContext();
  llvm::SmallVector<DimExpr> flat = {count};
  return builder.create<ReshapeOp>(location, type_of(value).withShape(flat), value,
                                   DimsAttr::get(context, flat));
}

// The location of a fused op names both ops.
mlir::Location join(mlir::Operation* a, mlir::Operation* b) {
  return mlir::FusedLoc::get(a->getContext(), {a->getLoc(), b->getLoc()});
}

struct ConvAndConstant {
  ConvOp conv;
  mlir::Value constant;  // [channels], or [1]
};

// Matches op(conv(x, w, bias), constant) with the operands in either order. w and bias must be
// constants, and op must be the only user of the convolution.
std::optional<ConvAndConstant> conv_and_constant(mlir::Operation* op, mlir::OpBuilder& builder) {
  for (int i : {0, 1}) {
    auto conv = op->getOperand(i).getDefiningOp<ConvOp>();
    // With constant weights, the scaled weights fold at compile time. With another user, the
    // convolution would be computed twice.
    if (!conv || !can_combine(op, conv) || !conv->hasOneUse() ||
        !conv.getW().getDefiningOp<ConstantOp>())
      continue;
    if (conv.getBias() && !conv.getBias().getDefiningOp<ConstantOp>()) continue;
    TensorType type = type_of(conv.getResult());
    // A convolution of bytes, whose sums have another type, has no bias.
    if (type != op->getResult(0).getType() || type.getDtype() != type_of(conv.getX()).getDtype())
      continue;
    mlir::Value constant =
        channel_constant(op->getOperand(1 - i), type.getRank(), type.getDim(1), builder);
    if (constant) return ConvAndConstant{conv, constant};
  }
  return std::nullopt;
}

mlir::Value with_weights(mlir::Operation* op, ConvOp conv, mlir::Value w, mlir::Value bias,
                         mlir::OpBuilder& builder) {
  return builder.create<ConvOp>(join(conv, op), op->getResult(0).getType(), conv.getX(), w, bias,
                                conv.getStridesAttr(), conv.getPadsAttr(), conv.getDilationsAttr(),
                                conv.getGroupAttr());
}

// conv(x, w, bias) * c -> conv(x, w * c, bias * c)
mlir::Value scale_into_conv(MulOp op, mlir::OpBuilder& builder) {
  auto match = conv_and_constant(op, builder);
  if (!match) return {};
  ConvOp conv = match->conv;
  TensorType weight_type = type_of(conv.getW());
  llvm::SmallVector<DimExpr> column(weight_type.getRank(), DimExpr(1));
  // Weights are [output channels, ...], so the factor broadcasts as [channels, 1, ...].
  column[0] = type_of(match->constant).getDim(0);
  mlir::MLIRContext* context = op.getContext();
  mlir::Value factor = builder.create<ReshapeOp>(op.getLoc(), weight_type.withShape(column),
                                                 match->constant, DimsAttr::get(context, column));
  mlir::Value w = builder.create<MulOp>(conv.getLoc(), weight_type, conv.getW(), factor);
  mlir::Value bias = conv.getBias();
  if (bias) bias = builder.create<MulOp>(conv.getLoc(), bias.getType(), bias, match->constant);
  return with_weights(op, conv, w, bias, builder);
}

// conv(x, w, bias) + c -> conv(x, w, bias + c)
mlir::Value shift_into_conv(AddOp op, mlir::OpBuilder& builder) {
  auto match = conv_and_constant(op, builder);
  if (!match) return {};
  ConvOp conv = match->conv;
  llvm::SmallVector<DimExpr> shape = {type_of(conv.getResult()).getDim(1)};
  mlir::MLIRContext* context = op.getContext();
  TensorType type = type_of(match->constant).withShape(shape);
  mlir::Value bias = match->constant;
  if (conv.getBias())
    bias = builder.create<AddOp>(conv.getLoc(), type, conv.getBias(), bias);
  else if (bias.getType() != type)
    bias = builder.create<ExpandOp>(conv.getLoc(), type, bias, DimsAttr::get(context, shape));
  return with_weights(op, conv, conv.getW(), bias, builder);
}

// Returns x if `value` is a transpose of x that swaps only the last two dims, else null. The
// product can then read x directly, with the opposite transpose attribute.
mlir::Value undo_transpose(MatMulOp product, mlir::Value value) {
  auto transpose = value.getDefiningOp<TransposeOp>();
  if (!transpose || !can_combine(product, transpose) || transpose.getPermutation().size() < 2)
    return {};
  llvm::SmallVector<int64_t> permutation(transpose.getPermutation());
  std::swap(permutation[permutation.size() - 1], permutation[permutation.size() - 2]);
  return is_identity(permutation) ? transpose.getX() : mlir::Value();
}

mlir::Value rewrite_matmul(MatMulOp op, mlir::OpBuilder& builder) {
  // 8-bit kernels read groups of four elements along the depth. That is cheap from a transposed
  // copy and expensive across the rows of x.
  if (byte_size(type_of(op.getA()).getDtype()) == 1) return {};
  mlir::Value a = undo_transpose(op, op.getA()), b = undo_transpose(op, op.getB());
  if (!a && !b) return {};
  return builder.create<MatMulOp>(op.getLoc(), op.getResult().getType(), a ? a : op.getA(),
                                  b ? b : op.getB(), op.getTransposeA() != static_cast<bool>(a),
                                  op.getTransposeB() != static_cast<bool>(b));
}

// --- Algebraic identities. ----------------------------------------------------------------------

// Adding -0.0 changes nothing; adding 0.0 would change -0.0.
mlir::Value drop_zero_addend(AddOp op, mlir::OpBuilder&) { return neutral(op, -0.0, true); }
mlir::Value drop_zero_subtrahend(SubOp op, mlir::OpBuilder&) { return neutral(op, 0, false); }
mlir::Value drop_unit_factor(MulOp op, mlir::OpBuilder&) { return neutral(op, 1, true); }
mlir::Value drop_unit_divisor(DivOp op, mlir::OpBuilder&) { return neutral(op, 1, false); }

// (x / d) * c -> x * (c / d), with splat constants c and d: both have two roundings. Hard swish
// with a learned scale has this form.
mlir::Value divide_factor(MulOp op, mlir::OpBuilder& builder) {
  for (int i : {0, 1}) {
    auto div = op->getOperand(i).getDefiningOp<DivOp>();
    mlir::Value factor = op->getOperand(1 - i);
    if (!div || !can_combine(op, div) || !div->hasOneUse()) continue;
    const std::optional<double> c = splat_of(factor), d = splat_of(div.getB());
    // A subnormal or infinite quotient would have a larger error than the division.
    if (!c || !d || !std::isnormal(static_cast<float>(*c / *d))) continue;
    // Neither op may broadcast to the shape of the divisor.
    const TensorType divisor = type_of(div.getB()), type = type_of(factor);
    if (div.getA().getType() != div.getResult().getType() || divisor.getRank() > type.getRank() ||
        !divisor.getElementCount().is_constant(1))
      continue;
    mlir::Value quotient = builder.create<DivOp>(div.getLoc(), type, factor, div.getB());
    return builder.create<MulOp>(join(div, op), op.getResult().getType(), div.getA(), quotient);
  }
  return {};
}

// A slice of a concat that has exactly the elements of one operand is that operand.
mlir::Value operand_of_concat(SliceOp op, mlir::OpBuilder&) {
  auto concat = op.getX().getDefiningOp<ConcatOp>();
  if (!concat || !can_combine(op, concat)) return {};
  llvm::ArrayRef<DimExpr> starts = op.getStarts().getValue();
  const auto axis = static_cast<size_t>(concat.getAxis());
  if (llvm::any_of(op.getSteps(), [](int64_t step) { return step != 1; })) return {};
  for (size_t i = 0; i < starts.size(); ++i)
    if (i != axis && !starts[i].is_constant(0)) return {};
  // Without the concat, a request with other dims would not fail.
  const auto has_equal_dims = [&](mlir::Value operand) {
    for (size_t i = 0; i < starts.size(); ++i)
      if (const auto at = static_cast<int64_t>(i);
          i != axis && type_of(operand).getDim(at) != type_of(concat.getResult()).getDim(at))
        return false;
    return true;
  };
  if (!llvm::all_of(concat.getInputs(), has_equal_dims)) return {};
  DimExpr start = 0;
  for (mlir::Value operand : concat.getInputs()) {
    if (starts[axis] == start && type_of(operand) == type_of(op.getResult())) return operand;
    start = start + type_of(operand).getDim(static_cast<int64_t>(axis));
  }
  return {};
}

template <typename Op>
mlir::Value drop_same(Op op, mlir::OpBuilder&) {
  return op.getX().getType() == op.getResult().getType() ? op.getX() : mlir::Value();
}

}  // namespace

std::optional<double> splat_of(mlir::Value value) {
  const std::optional<uint64_t> bits = splat_bits(value.getDefiningOp());
  if (!bits) return std::nullopt;
  const DType dtype = type_of(value).getDtype();
  if (dtype == DType::kF32) return std::bit_cast<float>(static_cast<uint32_t>(*bits));
  if (dtype == DType::kF64) return std::bit_cast<double>(*bits);
  return std::nullopt;
}

// The kernel of a concat has a branch with a copy loop for each operand, and LLVM's time grows
// faster than the number of branches: 500 operands take 10 seconds.
mlir::Value split_concat(ConcatOp op, mlir::OpBuilder& builder) {
  constexpr size_t kMostOperands = 32;
  mlir::OperandRange inputs = op.getInputs();
  if (inputs.size() <= kMostOperands) return {};
  const auto axis = static_cast<size_t>(op.getAxis());
  llvm::SmallVector<mlir::Value> parts;
  for (size_t first = 0; first < inputs.size(); first += kMostOperands) {
    mlir::ValueRange part = inputs.slice(first, std::min(kMostOperands, inputs.size() - first));
    if (part.size() == 1) {
      parts.push_back(part.front());
      continue;
    }
    llvm::SmallVector<DimExpr> shape(type_of(part.front()).getShape());
    for (mlir::Value input : part.drop_front())
      for (size_t i = 0; i < shape.size(); ++i) {
        DimExpr dim = type_of(input).getDim(i);
        if (i == axis)
          shape[i] = shape[i] + dim;
        else if (dim.is_constant())  // as ConcatOp::infer()
          shape[i] = dim;
      }
    parts.push_back(builder.create<ConcatOp>(op.getLoc(), type_of(op.getResult()).withShape(shape),
                                             part, op.getAxisAttr()));
  }
  return builder.create<ConcatOp>(op.getLoc(), op.getResult().getType(), parts, op.getAxisAttr());
}

void AddOp::getCanonicalizationPatterns(mlir::RewritePatternSet& patterns, mlir::MLIRContext*) {
  add_rewrites<AddOp, drop_zero_addend, shift_into_conv, rewrite_normalisation>(patterns);
}
void SubOp::getCanonicalizationPatterns(mlir::RewritePatternSet& patterns, mlir::MLIRContext*) {
  add_rewrites<SubOp, drop_zero_subtrahend>(patterns);
}
void MulOp::getCanonicalizationPatterns(mlir::RewritePatternSet& patterns, mlir::MLIRContext*) {
  add_rewrites<MulOp, drop_unit_factor, divide_factor, scale_into_conv>(patterns);
}
void DivOp::getCanonicalizationPatterns(mlir::RewritePatternSet& patterns, mlir::MLIRContext*) {
  add_rewrites<DivOp, drop_unit_divisor>(patterns);
}
void PowOp::getCanonicalizationPatterns(mlir::RewritePatternSet& patterns, mlir::MLIRContext*) {
  add_rewrites<PowOp, rewrite_pow>(patterns);
}
void CastOp::getCanonicalizationPatterns(mlir::RewritePatternSet& patterns, mlir::MLIRContext*) {
  add_rewrites<CastOp, drop_same<CastOp>>(patterns);
}
void ExpandOp::getCanonicalizationPatterns(mlir::RewritePatternSet& patterns, mlir::MLIRContext*) {
  add_rewrites<ExpandOp, drop_same<ExpandOp>>(patterns);
}
void SliceOp::getCanonicalizationPatterns(mlir::RewritePatternSet& patterns, mlir::MLIRContext*) {
  add_rewrites<SliceOp, operand_of_concat>(patterns);
}
void TileOp::getCanonicalizationPatterns(mlir::RewritePatternSet& patterns, mlir::MLIRContext*) {
  add_rewrites<TileOp, drop_same<TileOp>>(patterns);
}
void ReshapeOp::getCanonicalizationPatterns(mlir::RewritePatternSet& patterns, mlir::MLIRContext*) {
  add_rewrites<ReshapeOp, rewrite_reshape>(patterns);
}
void TransposeOp::getCanonicalizationPatterns(mlir::RewritePatternSet& patterns,
                                              mlir::MLIRContext*) {
  add_rewrites<TransposeOp, rewrite_transpose>(patterns);
}
void MatMulOp::getCanonicalizationPatterns(mlir::RewritePatternSet& patterns, mlir::MLIRContext*) {
  add_rewrites<MatMulOp, rewrite_matmul, scale_left_operand, group_heads>(patterns);
}

}  // namespace scopevm::compiler::graph
