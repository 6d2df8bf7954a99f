// Reads the attributes and types of convolutions; see conv_problem.h.
#include "compiler/layouts/conv_problem.h"

namespace scopevm::compiler::layouts {
namespace {

using graph::type_of;

schedule::Extent extent(DimExpr dim, const DimValues& known) {
  return {dim.as_constant(), representative(dim, known)};
}

// The members that ordinary and transposed convolutions have in common.
template <typename Op>
schedule::ConvProblem common_problem(Op op, const DimValues& known) {
  schedule::ConvProblem problem{.groups = static_cast<int64_t>(op.getGroup())};
  for (size_t i = 0; i < 2; ++i) {
    schedule::ConvAxis& axis = problem.axes[i];
    axis.size = extent(type_of(op.getX()).getDim(2 + i), known);
    axis.out = extent(type_of(op.getResult()).getDim(2 + i), known);
    axis.taps = axis.window = *type_of(op.getW()).getDim(2 + i).as_constant();
    axis.stride = op.getStrides()[i];
    axis.dilation = op.getDilations()[i];
    axis.pad = op.getPads()[i];
    axis.pad_after = op.getPads()[2 + i];
  }
  return problem;
}

}  // namespace

schedule::ConvProblem problem_of(graph::ConvOp op, const DimValues& known) {
  schedule::ConvProblem problem = common_problem(op, known);
  problem.out_channels = *type_of(op.getW()).getDim(0).as_constant();
  problem.channels = *type_of(op.getW()).getDim(1).as_constant();
  return problem;
}

schedule::ConvProblem problem_of(graph::ConvTransposeOp op, const DimValues& known) {
  schedule::ConvProblem problem = common_problem(op, known);
  problem.channels = *type_of(op.getW()).getDim(0).as_constant();
  problem.out_channels = *type_of(op.getW()).getDim(1).as_constant() * problem.groups;
  problem.is_transposed = true;
  return problem;
}

}  // namespace scopevm::compiler::layouts
