// One pass over the ops, from the last to the first.
#include "compiler/split/tensor/borders.h"

#include "compiler/graph/graph_ops.h"
#include "compiler/split/tensor/reshape_axes.h"

namespace scopevm::compiler::split {

using graph::type_of;

Borders::Borders(mlir::Block& block) {
  for (mlir::Operation& op : llvm::reverse(block)) visit(&op);
}

std::vector<Form::Segments> Borders::segments(mlir::Value value, int64_t axis, int64_t size) const {
  std::vector<Form::Segments> all = {{size}};
  Form::Segments between;
  int64_t start = 0;
  for (const int64_t position : of(value, axis)) {
    if (position <= start || position >= size) continue;
    between.push_back(position - start);
    start = position;
  }
  if (start == 0) return all;
  between.push_back(size - start);
  all.push_back(std::move(between));
  return all;
}

Borders::Positions Borders::of(mlir::Value value, int64_t axis) const {
  const auto by_axis = positions_.find(value);
  if (by_axis == positions_.end()) return {};
  const auto found = by_axis->second.find(axis);
  return found == by_axis->second.end() ? Positions() : found->second;
}

void Borders::visit(mlir::Operation* op) {
  const auto add = [&](mlir::Value value, int64_t axis, const Positions& positions,
                       const auto& position_in) {
    for (const int64_t position : positions)
      if (const std::optional<int64_t> in = position_in(position))
        positions_[value][axis].insert(*in);
  };
  if (auto slice = mlir::dyn_cast<graph::SliceOp>(op)) {
    for (int64_t axis = 0; axis < type_of(slice.getX()).getRank(); ++axis) {
      const std::optional<int64_t> start = slice.getStarts().getValue()[axis].as_constant(),
                                   size = slice.getSizes().getValue()[axis].as_constant();
      if (!start || !size || slice.getSteps()[axis] != 1) continue;
      positions_[slice.getX()][axis].insert({*start, *start + *size});
      add(slice.getX(), axis, of(slice.getResult(), axis),
          [&](int64_t position) { return std::optional(*start + position); });
    }
  } else if (auto reshape = mlir::dyn_cast<graph::ReshapeOp>(op)) {
    for (const ReshapedAxis& pair : reshaped_axes(reshape, 1)) {
      if (pair.from_segments != pair.to_segments) continue;
      const int64_t from = *type_of(reshape.getX()).getDim(pair.from).as_constant(),
                    to = *type_of(reshape.getResult()).getDim(pair.to).as_constant();
      add(reshape.getX(), pair.from, of(reshape.getResult(), pair.to), [&](int64_t position) {
        const int64_t scaled = position * from;
        return scaled % to == 0 ? std::optional(scaled / to) : std::nullopt;
      });
    }
  } else if (auto parallel = mlir::dyn_cast<graph::ParallelAxesOp>(op)) {
    for (const graph::ParallelAxis& axes : parallel.getParallelAxes())
      for (const auto [operand, axis] : llvm::zip_equal(op->getOperands(), axes.operands)) {
        const int64_t result = axes.results.front();
        if (axis == graph::ParallelAxis::kWhole ||
            type_of(operand).getDim(axis) != type_of(op->getResult(0)).getDim(result))
          continue;
        add(operand, axis, of(op->getResult(0), result),
            [](int64_t position) { return std::optional(position); });
      }
  }
}

}  // namespace scopevm::compiler::split
