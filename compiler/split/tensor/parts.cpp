// See parts.h.
#include "compiler/split/tensor/parts.h"

#include "compiler/graph/graph_ops.h"

namespace scopevm::compiler::split {
namespace {

using graph::type_of;

mlir::Value combined(mlir::OpBuilder& builder, mlir::Value a, mlir::Value b, graph::Combine how) {
  switch (how) {
    case graph::Combine::kSum:
      return builder.create<graph::AddOp>(b.getLoc(), a, b);
    case graph::Combine::kProduct:
      return builder.create<graph::MulOp>(b.getLoc(), a, b);
    case graph::Combine::kMax:
      return builder.create<graph::MaxOp>(b.getLoc(), a, b);
    case graph::Combine::kMin:
      return builder.create<graph::MinOp>(b.getLoc(), a, b);
  }
  return a;
}

mlir::Value slice(mlir::OpBuilder& builder, mlir::Value x, int64_t axis, Chunk chunk) {
  llvm::SmallVector<DimExpr> starts(type_of(x).getRank(), 0), sizes(type_of(x).getShape());
  starts[axis] = chunk.start;
  sizes[axis] = chunk.size;
  const llvm::SmallVector<int64_t> steps(starts.size(), 1);
  return builder.createOrFold<graph::SliceOp>(
      x.getLoc(), x, graph::DimsAttr::get(builder.getContext(), starts),
      graph::DimsAttr::get(builder.getContext(), sizes), builder.getDenseI64ArrayAttr(steps));
}

mlir::Value concat(mlir::OpBuilder& builder, llvm::ArrayRef<mlir::Value> parts, int64_t axis) {
  if (parts.size() == 1) return parts.front();
  return builder.createOrFold<graph::ConcatOp>(parts.front().getLoc(), parts,
                                               builder.getI64IntegerAttr(axis));
}

}  // namespace

mlir::Value part_of(mlir::OpBuilder& builder, mlir::Value x, const Form& form, int rank,
                    int ranks) {
  Parts parts;
  int64_t start = 0;
  for (const int64_t segment : form.segments) {
    const Chunk chunk = chunk_of(segment, rank, ranks);
    parts.push_back(slice(builder, x, form.axis, {start + chunk.start, chunk.size}));
    start += segment;
  }
  return concat(builder, parts, form.axis);
}

mlir::Value whole_of(mlir::OpBuilder& builder, llvm::ArrayRef<mlir::Value> parts,
                     const Form& form) {
  if (form.is(Form::Kind::kPartial)) {
    mlir::Value all = parts.front();
    for (mlir::Value part : parts.drop_front()) all = combined(builder, all, part, form.combine);
    return all;
  }
  if (form.segments.size() == 1) return concat(builder, parts, form.axis);
  Parts pieces;
  std::vector<int64_t> starts(parts.size(), 0);
  for (const int64_t segment : form.segments)
    for (const auto [rank, part] : llvm::enumerate(parts)) {
      const auto ranks = static_cast<int>(parts.size());
      const int64_t size = chunk_of(segment, static_cast<int>(rank), ranks).size;
      pieces.push_back(slice(builder, part, form.axis, {starts[rank], size}));
      starts[rank] += size;
    }
  return concat(builder, pieces, form.axis);
}

}  // namespace scopevm::compiler::split
