// See selection.h.
#include "compiler/split/tensor/selection.h"

#include "compiler/graph/graph_ops.h"
#include "compiler/graph/type_rule.h"
#include "compiler/split/op_work.h"

namespace scopevm::compiler::split {
namespace {

using graph::type_of;

bool is_arg_reduction(mlir::Operation* op) {
  return mlir::isa<graph::ArgMaxOp, graph::ArgMinOp>(op);
}

// The same selection from `x`, with the axis in the results.
mlir::FailureOr<mlir::Operation*> selection_from(mlir::OpBuilder& builder, mlir::Operation* op,
                                                 mlir::Value x) {
  mlir::Operation* const copy = builder.clone(*op);
  copy->setOperand(0, x);
  if (is_arg_reduction(op)) copy->setAttr("keep_dims", builder.getBoolAttr(true));
  if (failed(graph::infer_results(copy))) return mlir::failure();
  return copy;
}

mlir::Value gathered(mlir::OpBuilder& builder, mlir::Location location, mlir::Value x,
                     mlir::Value indices, int64_t axis) {
  return builder.create<graph::GatherElementsOp>(location, x, indices,
                                                 builder.getI64IntegerAttr(axis));
}

// x + number
mlir::Value shifted(mlir::OpBuilder& builder, mlir::Location location, mlir::Value x,
                    int64_t number) {
  if (number == 0) return x;
  const auto scalar = mlir::RankedTensorType::get({}, builder.getI64Type());
  const mlir::Value constant = builder.create<graph::ConstantOp>(
      location, type_of(x).withShape({}), mlir::DenseElementsAttr::get(scalar, number));
  return builder.create<graph::AddOp>(location, x, constant);
}

}  // namespace

std::optional<Selection> selection_of(mlir::Operation* op) {
  Selection selection;
  if (is_arg_reduction(op)) {
    selection.count = 1;
  } else if (auto top = mlir::dyn_cast<graph::TopKOp>(op)) {
    selection.count = top.getK().getValue().front().as_constant().value_or(0);
  }
  if (selection.count < 1) return std::nullopt;
  selection.axis = op->getAttrOfType<mlir::IntegerAttr>("axis").getInt();
  return selection;
}

mlir::FailureOr<Selected> select_from_part(mlir::OpBuilder& builder, mlir::Operation* op,
                                           mlir::Value part, int64_t start) {
  const mlir::FailureOr<mlir::Operation*> selected = selection_from(builder, op, part);
  if (failed(selected)) return mlir::failure();
  const int64_t axis = selection_of(op)->axis;
  const mlir::Value indices = (*selected)->getResults().back();
  const mlir::Value values = is_arg_reduction(op)
                                 ? gathered(builder, op->getLoc(), part, indices, axis)
                                 : (*selected)->getResult(0);
  return Selected{values, shifted(builder, op->getLoc(), indices, start)};
}

mlir::FailureOr<llvm::SmallVector<mlir::Value, 2>> select_from_selected(
    mlir::OpBuilder& builder, mlir::Operation* op, llvm::ArrayRef<Selected> parts) {
  const mlir::Location location = op->getLoc();
  const int64_t axis = selection_of(op)->axis;
  llvm::SmallVector<mlir::Value> values, indices;
  for (const Selected& part : parts) {
    values.push_back(part.values);
    indices.push_back(part.indices);
  }
  const auto joined = [&](mlir::ValueRange all) -> mlir::Value {
    return builder.create<graph::ConcatOp>(location, all, builder.getI64IntegerAttr(axis));
  };
  const mlir::FailureOr<mlir::Operation*> selected = selection_from(builder, op, joined(values));
  if (failed(selected)) return mlir::failure();
  llvm::SmallVector<mlir::Value, 2> results((*selected)->getResults());
  results.back() = gathered(builder, location, joined(indices), results.back(), axis);
  const auto shape = type_of(op->getResults().back()).getShape();
  if (type_of(results.back()).getShape() != shape)  // without the axis
    results.back() = builder.create<graph::ReshapeOp>(
        location, results.back(), graph::DimsAttr::get(builder.getContext(), shape));
  return results;
}

double seconds_to_merge(mlir::Operation* op, const Group& group) {
  const mlir::Value x = op->getOperand(0);
  const Selection selection = *selection_of(op);
  const auto size = static_cast<double>(*type_of(x).getDim(selection.axis).as_constant());
  const double count = static_cast<double>(selection.count) * group.ranks();
  const auto seconds = [&](double bytes) {
    return group.seconds(Form::divided(selection.axis, {}), Form::replicated(), bytes);
  };
  return seconds(bytes_of(x) * count / size) +
         seconds(bytes_of(op->getResults().back()) * group.ranks()) + seconds_of(op) * count / size;
}

}  // namespace scopevm::compiler::split
