// Pooling: generated definitions, type rules, request checks.
#include "compiler/graph/convolution/window.h"
#include "compiler/graph/diagnostics/request_checks.h"
#include "compiler/graph/graph_ops.h"
#include "compiler/graph/parallel/parallel_axes.h"
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
  if (spatial == 0) return rule.fail("x must have rank 3 or more, but is " + text_of(x));
  if (x.getRank() != static_cast<int64_t>(spatial) + 2)
    return rule.fail("x must have rank " + llvm::Twine(spatial + 2) + " for kernel " +
                     text_of(op.getKernel()) + ", but is " + text_of(x));
  if (failed(window.check(rule, spatial)) ||
      failed(check_window(rule, "kernel dims", op.getKernel(), 1)))
    return mlir::failure();
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
  if (x.getRank() != 4) return rule.fail("x must have rank 4, but is " + text_of(x));
  if (boxes.getRank() != 2 || !may_be_equal(boxes.getDim(1), 4) || boxes.getDtype() != x.getDtype())
    return rule.fail("boxes must have shape [n, 4] and the element type of x, but are " +
                     text_of(boxes) + " and x is " + text_of(x));
  if (images.getRank() != 1 || images.getDtype() != DType::kI64 ||
      !may_be_equal(boxes.getDim(0), images.getDim(0)))
    return rule.fail("images must be i64 with one entry for each of the boxes " + text_of(boxes) +
                     ", but are " + text_of(images));
  auto in_range = [](int64_t v) { return v >= 0 && v <= (1 << 20); };
  if (op.getHeight() < 1 || op.getWidth() < 1 || !in_range(op.getHeight()) ||
      !in_range(op.getWidth()) || !in_range(op.getSamples()))
    return rule.fail("height, width and samples are " + llvm::Twine(op.getHeight()) + ", " +
                     llvm::Twine(op.getWidth()) + " and " + llvm::Twine(op.getSamples()) +
                     ", expected at most 1048576 each, height and width at least 1");
  rule.types.push_back(
      TensorType::get(rule.context, x.getDtype(),
                      {boxes.getDim(0), x.getDim(1), DimExpr(static_cast<int64_t>(op.getHeight())),
                       DimExpr(static_cast<int64_t>(op.getWidth()))}));
  return mlir::success();
}

void RoiAlignOp::addRequestChecks(RequestChecks& checks) {
  checks.require_equal(dim_of(getBoxes(), 1), {4, nullptr, "the number of box coordinates"});
  checks.require_equal(dim_of(getImages(), 0), dim_of(getBoxes(), 0));
}

}  // namespace scopevm::compiler::graph
