// Convolutions: generated definitions, type rules, request checks, cost.
#include "compiler/graph/convolution/window.h"
#include "compiler/graph/diagnostics/dim_trace.h"
#include "compiler/graph/diagnostics/request_checks.h"
#include "compiler/graph/graph_ops.h"
#include "compiler/graph/type_rule.h"

// Included last: the generated definitions use the declarations above.
#define GET_OP_CLASSES
#include "compiler/graph/convolution/ops.cpp.inc"

namespace scopevm::compiler::graph {

llvm::LogicalResult ConvOp::infer(TypeRule& rule, Adaptor op) {
  TensorType x = tensor_type(op.getX()), w = tensor_type(op.getW());
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
  return rule.add_result(x.getDtype(), shape);
}

void ConvOp::addRequestChecks(RequestChecks& checks) {
  auto group = static_cast<int64_t>(getGroup());
  CheckedDim channels = dim_of(getW(), 1);
  if (group != 1) channels.what += " times group " + std::to_string(group);
  channels.dim = channels.dim * DimExpr(group);
  checks.require_equal(dim_of(getX(), 1), channels);
  checks.require_multiple_of(dim_of(getW(), 0), group,
                             DimTrace::name(getW()) + " dim 0 is {0}, not a multiple of group {1}");
  if (getBias()) checks.require_equal(dim_of(getBias(), 0), dim_of(getW(), 0));
}

llvm::SmallVector<DimExpr> ConvOp::getWindowDims() {
  return llvm::to_vector(tensor_type(getW()).getShape().drop_front(2));
}

// Two operations per multiply-add: for each result element and each weight of its group.
DimExpr ConvOp::getFlops() {
  DimExpr flops = DimExpr(2) * tensor_type(getResult()).getElementCount();
  for (DimExpr dim : tensor_type(getW()).getShape().drop_front()) flops = flops * dim;
  return flops;
}

llvm::LogicalResult ConvTransposeOp::infer(TypeRule& rule, Adaptor op) {
  TensorType x = tensor_type(op.getX()), w = tensor_type(op.getW());
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
  return rule.add_result(x.getDtype(), shape);
}

void ConvTransposeOp::addRequestChecks(RequestChecks& checks) {
  checks.require_equal(dim_of(getX(), 1), dim_of(getW(), 0));
  checks.require_multiple_of(dim_of(getX(), 1), static_cast<int64_t>(getGroup()),
                             DimTrace::name(getX()) + " dim 1 is {0}, not a multiple of group {1}");
}

llvm::SmallVector<DimExpr> ConvTransposeOp::getWindowDims() {
  return llvm::to_vector(tensor_type(getW()).getShape().drop_front(2));
}

// Two operations per multiply-add: for each element of x and each weight of its group.
DimExpr ConvTransposeOp::getFlops() {
  DimExpr flops = DimExpr(2) * tensor_type(getX()).getElementCount();
  for (DimExpr dim : tensor_type(getW()).getShape().drop_front()) flops = flops * dim;
  return flops;
}

}  // namespace scopevm::compiler::graph
