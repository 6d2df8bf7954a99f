// Pooling: generated definitions, type rules, request checks.
#include "compiler/graph/convolution/window.h"
#include "compiler/graph/diagnostics/request_checks.h"
#include "compiler/graph/graph_ops.h"
#include "compiler/graph/type_rule.h"

// Included last: the generated definitions use the declarations above.
#define GET_OP_CLASSES
#include "compiler/graph/pooling/ops.cpp.inc"

namespace scopevm::compiler::graph {

namespace {

template <typename PoolAdaptor>
llvm::LogicalResult infer_pool(TypeRule& rule, PoolAdaptor op) {
  TensorType x = tensor_type(op.getX());
  Window window{op.getStrides(), op.getPads(), op.getDilations()};
  size_t spatial = op.getKernel().size();
  if (x.getRank() != static_cast<int64_t>(spatial) + 2 || !window.has_rank(spatial) ||
      !window.is_positive())
    return rule.fail("kernel, strides, pads or dilations do not fit " + text_of(x));
  llvm::SmallVector<DimExpr> shape(x.getShape().take_front(2));
  for (size_t i = 0; i < spatial; ++i)
    shape.push_back(window_count(window, i, x.getDim(2 + i), op.getKernel()[i], op.getCeilMode()));
  return rule.add_result(x.getDtype(), shape);
}

}  // namespace

llvm::LogicalResult MaxPoolOp::infer(TypeRule& rule, Adaptor op) { return infer_pool(rule, op); }

llvm::LogicalResult AveragePoolOp::infer(TypeRule& rule, Adaptor op) {
  return infer_pool(rule, op);
}

llvm::LogicalResult MaxPoolIndicesOp::infer(TypeRule& rule, Adaptor op) {
  if (failed(infer_pool(rule, op))) return mlir::failure();
  auto values = mlir::cast<TensorType>(rule.types.front());
  return rule.add_result(DType::kI64, values.getShape());
}

llvm::LogicalResult RoiAlignOp::infer(TypeRule& rule, Adaptor op) {
  TensorType x = tensor_type(op.getX()), boxes = tensor_type(op.getBoxes());
  TensorType images = tensor_type(op.getImages());
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

void RoiAlignOp::addRequestChecks(RequestChecks& checks) {
  checks.require_equal(dim_of(getBoxes(), 1), {4, nullptr, "a box's coordinates"});
  checks.require_equal(dim_of(getImages(), 0), dim_of(getBoxes(), 0));
}

}  // namespace scopevm::compiler::graph
