// Formulas; see formula.h.
#include "compiler/import/node/formula.h"

namespace scopevm::compiler::frontend {

using namespace graph;  // NOLINT: formulas read better without the prefix

Formula Formula::element_at(int64_t axis, DimExpr index, bool keep_axis) const {
  node_->dim(value_, axis);  // reports an error if there is no such axis
  if (node_->has_failed()) return {*node_, Value()};
  Dims starts(static_cast<size_t>(rank()), DimExpr(0)), sizes(shape());
  starts[static_cast<size_t>(axis)] = index;
  sizes[static_cast<size_t>(axis)] = 1;
  Formula part(*node_, node_->slice(value_, starts, sizes));
  if (keep_axis) return part;
  sizes.erase(sizes.begin() + axis);
  return part.reshape(sizes);
}

Formula Formula::reversed(int64_t axis) const {
  DimExpr last = node_->dim(value_, axis) - DimExpr(1);
  if (node_->has_failed()) return {*node_, Value()};
  Dims starts(static_cast<size_t>(rank()), DimExpr(0));
  Ints steps(starts.size(), 1);
  starts[static_cast<size_t>(axis)] = last;
  steps[static_cast<size_t>(axis)] = -1;
  return {*node_, node_->slice(value_, starts, Dims(shape()), steps)};
}

Formula Formula::gather(Value indices, int64_t axis) const {
  return {*node_, node_->emit<GatherOp>({value_, indices}, {node_->attr("axis", axis)})};
}

Formula iota(Node& n, DimExpr size, DType dtype, int64_t start, int64_t step) {
  std::string_view type = name(dtype);
  return {n, n.emit<IotaOp>(
                 {}, {n.attr("size", Dims{size}), n.attr("start", start), n.attr("step", step),
                      n.attr("dtype", llvm::StringRef(type.data(), type.size()))})};
}

Formula number(Node& n, DimExpr dim, DType dtype) {
  if (std::optional<int64_t> constant = dim.as_constant())
    return {n, n.scalar(static_cast<double>(*constant), dtype)};
  return Formula(n, n.dims_value({dim}, /*is_scalar=*/true)).as(dtype);
}

Formula stack(llvm::ArrayRef<Formula> parts, int64_t axis) {
  Node& n = parts.front().node();
  llvm::SmallVector<Value> values;
  for (const Formula& part : parts) values.push_back(part.unsqueeze({axis}));
  return {n, n.concat(values, axis)};
}

Formula cubic_weight(const Formula& d, double a) {
  // Cubic convolution (Keys, "Cubic convolution interpolation for digital image processing", 1981).
  // There is one polynomial for distances up to 1 and one up to 2. The weight beyond is 0.
  Formula near = ((d * (a + 2)) - (a + 3)) * d * d + 1.0;
  Formula far = ((d * a - 5 * a) * d + 8 * a) * d - 4 * a;
  return select(d <= 1.0, near, select(d < 2.0, far, 0.0));
}

}  // namespace scopevm::compiler::frontend
