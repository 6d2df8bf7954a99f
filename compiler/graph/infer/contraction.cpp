// Type rules of matmul, convolutions and pools.
#include "compiler/graph/infer/infer.h"
#include "mlir/IR/BuiltinTypes.h"

namespace scopevm::compiler::graph {
namespace {

TensorType type_of(mlir::Value value) { return mlir::cast<TensorType>(value.getType()); }

bool is_byte(TensorType type) {
  return type.getDtype() == DType::kI8 || type.getDtype() == DType::kU8;
}

// The attributes of a window, by spatial axis.
struct Window {
  llvm::ArrayRef<int64_t> strides, pads, dilations;

  bool has_rank(size_t rank) const {
    return strides.size() == rank && pads.size() == 2 * rank && dilations.size() == rank;
  }
  bool is_positive() const {
    auto positive = [](int64_t v) { return v > 0; };
    return llvm::all_of(strides, positive) && llvm::all_of(dilations, positive);
  }
};

// Positions of a window of `kernel` elements along spatial axis i of `size` elements.
DimExpr window_count(const Window& window, size_t i, DimExpr size, DimExpr kernel, bool ceil) {
  size_t rank = window.strides.size();
  DimExpr span = size + window.pads[i] + window.pads[rank + i] - 1 -
                 (kernel - 1) * DimExpr(window.dilations[i]);
  DimExpr stride = window.strides[i];
  if (!ceil) return floordiv(span, stride) + 1;
  // A window that would start in the padding behind the input is dropped.
  DimExpr count = ceildiv(span, stride) + 1;
  DimExpr starts_inside = floordiv(size + window.pads[i] - 1, stride) + 1;
  return min(count, starts_inside);
}

template <typename PoolAdaptor>
llvm::LogicalResult infer_pool(TypeRule& rule, PoolAdaptor op) {
  TensorType x = type_of(op.getX());
  Window window{op.getStrides(), op.getPads(), op.getDilations()};
  size_t spatial = op.getKernel().size();
  if (x.getRank() != static_cast<int64_t>(spatial) + 2 || !window.has_rank(spatial) ||
      !window.is_positive())
    return rule.fail("kernel, strides, pads or dilations do not fit " + text_of(x));
  llvm::SmallVector<DimExpr> shape(x.getShape().take_front(2));
  for (size_t i = 0; i < spatial; ++i)
    shape.push_back(window_count(window, i, x.getDim(2 + i), op.getKernel()[i], op.getCeilMode()));
  rule.types.push_back(TensorType::get(rule.context, x.getDtype(), shape));
  return mlir::success();
}

}  // namespace

llvm::LogicalResult inferMatMul(TypeRule& rule, mlir::Value a_value, mlir::Value b_value,
                                bool transpose_a, bool transpose_b) {
  TensorType a = type_of(a_value), b = type_of(b_value);
  auto fail = [&](const llvm::Twine& what) {
    return rule.fail(text_of(a) + " times " + text_of(b) + ": " + what);
  };
  bool sums_bytes = is_byte(a) && is_byte(b);
  if (a.getDtype() != b.getDtype() && !sums_bytes) return fail("element types differ");
  if (a.getRank() == 0 || b.getRank() == 0) return fail("a scalar has no matrix product");
  llvm::SmallVector<DimExpr> left(a.getShape()), right(b.getShape());
  if (left.size() == 1) left.insert(left.begin(), DimExpr(1));
  if (right.size() == 1) right.push_back(DimExpr(1));
  if (transpose_a && a.getRank() > 1) std::swap(left[left.size() - 1], left[left.size() - 2]);
  if (transpose_b && b.getRank() > 1) std::swap(right[right.size() - 1], right[right.size() - 2]);
  if (!may_be_equal(left.back(), right[right.size() - 2])) return fail("inner dims differ");
  auto shape =
      broadcast_shapes(llvm::ArrayRef(left).drop_back(2), llvm::ArrayRef(right).drop_back(2));
  if (!shape) return fail("leading dims do not broadcast");
  if (a.getRank() > 1) shape->push_back(left[left.size() - 2]);
  if (b.getRank() > 1) shape->push_back(right.back());
  DType dtype = sums_bytes ? DType::kI32 : a.getDtype();
  rule.types.push_back(TensorType::get(rule.context, dtype, *shape));
  return mlir::success();
}

llvm::LogicalResult inferConv(TypeRule& rule, ConvOp::Adaptor op) {
  TensorType x = type_of(op.getX()), w = type_of(op.getW());
  Window window{op.getStrides(), op.getPads(), op.getDilations()};
  auto fail = [&](const llvm::Twine& what) {
    return rule.fail(text_of(x) + " with weight " + text_of(w) + ": " + what);
  };
  if (x.getRank() < 3 || w.getRank() != x.getRank()) return fail("ranks do not fit");
  size_t spatial = x.getRank() - 2;
  if (!window.has_rank(spatial) || !window.is_positive())
    return fail("strides, pads or dilations do not fit");
  int64_t group = op.getGroup();
  if (group < 1 || !may_be_equal(x.getDim(1), w.getDim(1) * DimExpr(group)))
    return fail("channels do not fit group " + llvm::Twine(group));
  if (auto m = w.getDim(0).as_constant(); m && *m % group != 0)
    return fail("group does not divide the output channels");
  llvm::SmallVector<DimExpr> shape = {x.getDim(0), w.getDim(0)};
  for (size_t i = 0; i < spatial; ++i)
    shape.push_back(window_count(window, i, x.getDim(2 + i), w.getDim(2 + i), false));
  rule.types.push_back(TensorType::get(rule.context, x.getDtype(), shape));
  return mlir::success();
}

llvm::LogicalResult inferConvTranspose(TypeRule& rule, ConvTransposeOp::Adaptor op) {
  TensorType x = type_of(op.getX()), w = type_of(op.getW());
  Window window{op.getStrides(), op.getPads(), op.getDilations()};
  if (x.getRank() < 3 || w.getRank() != x.getRank() || !window.has_rank(x.getRank() - 2) ||
      !window.is_positive() || op.getOutputPads().size() != window.strides.size() ||
      !may_be_equal(x.getDim(1), w.getDim(0)))
    return rule.fail(text_of(x) + " with weight " + text_of(w) + ": attributes do not fit");
  size_t spatial = x.getRank() - 2;
  llvm::SmallVector<DimExpr> shape = {x.getDim(0),
                                      w.getDim(1) * DimExpr(static_cast<int64_t>(op.getGroup()))};
  for (size_t i = 0; i < spatial; ++i)
    shape.push_back((x.getDim(2 + i) - 1) * DimExpr(window.strides[i]) + op.getOutputPads()[i] +
                    (w.getDim(2 + i) - 1) * DimExpr(window.dilations[i]) + 1 - window.pads[i] -
                    window.pads[spatial + i]);
  rule.types.push_back(TensorType::get(rule.context, x.getDtype(), shape));
  return mlir::success();
}

llvm::LogicalResult inferPool(TypeRule& rule, MaxPoolOp::Adaptor op) {
  return infer_pool(rule, op);
}
llvm::LogicalResult inferPool(TypeRule& rule, AveragePoolOp::Adaptor op) {
  return infer_pool(rule, op);
}
llvm::LogicalResult inferPool(TypeRule& rule, MaxPoolIndicesOp::Adaptor op) {
  if (failed(infer_pool(rule, op))) return mlir::failure();
  auto values = mlir::cast<TensorType>(rule.types.front());
  rule.types.push_back(TensorType::get(rule.context, DType::kI64, values.getShape()));
  return mlir::success();
}

llvm::LogicalResult inferRoiAlign(TypeRule& rule, RoiAlignOp::Adaptor op) {
  TensorType x = type_of(op.getX()), boxes = type_of(op.getBoxes());
  TensorType images = type_of(op.getImages());
  if (x.getRank() != 4 || boxes.getRank() != 2 || images.getRank() != 1 ||
      !may_be_equal(boxes.getDim(1), 4) || !may_be_equal(boxes.getDim(0), images.getDim(0)) ||
      images.getDtype() != DType::kI64 || boxes.getDtype() != x.getDtype())
    return rule.fail(text_of(boxes) + " of " + text_of(images) + " are no boxes of " + text_of(x));
  auto in_range = [](int64_t v) { return v >= 0 && v <= (1 << 20); };
  if (op.getHeight() < 1 || op.getWidth() < 1 || !in_range(op.getHeight()) ||
      !in_range(op.getWidth()) || !in_range(op.getSamples()))
    return rule.fail("height, width or samples are not valid");
  rule.types.push_back(
      TensorType::get(rule.context, x.getDtype(),
                      {boxes.getDim(0), x.getDim(1), DimExpr(static_cast<int64_t>(op.getHeight())),
                       DimExpr(static_cast<int64_t>(op.getWidth()))}));
  return mlir::success();
}

llvm::LogicalResult inferDet(TypeRule& rule, mlir::Value x) {
  TensorType type = type_of(x);
  int64_t rank = type.getRank();
  if (rank < 2 || !may_be_equal(type.getDim(rank - 1), type.getDim(rank - 2)))
    return rule.fail(text_of(type) + " does not hold square matrices");
  rule.types.push_back(
      TensorType::get(rule.context, type.getDtype(), type.getShape().drop_back(2)));
  return mlir::success();
}

}  // namespace scopevm::compiler::graph
