// diagonal: a strided copy in which one axis of the result corresponds to two axes of x.
#include "compiler/kernels/layout/strided_copy.h"
#include "compiler/kernels/op_lowerings.h"

namespace scopevm::compiler::kernels {

llvm::LogicalResult lower(graph::DiagonalOp op, LoweringContext& context) {
  Dims from = row_major_strides(shape_of(op.getX()));
  Dims to = row_major_strides(shape_of(op.getResult()));
  // One step along the diagonal is one step along both axes.
  from[op.getFirst()] = from[op.getFirst()] + from[op.getSecond()];
  from.erase(from.begin() + op.getSecond());
  StridedCopy copy;
  for (auto [d, size] : llvm::enumerate(shape_of(op.getResult())))
    copy.axes.push_back({size, {from[d], to[d]}});
  return lower_strided_copy(op, context, op.getX(), op.getResult(), std::move(copy));
}

}  // namespace scopevm::compiler::kernels
