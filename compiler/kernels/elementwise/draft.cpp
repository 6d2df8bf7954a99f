// See the header.
#include "compiler/kernels/elementwise/draft.h"

#include <algorithm>

#include "compiler/graph/graph_ops.h"

namespace scopevm::compiler::kernels {
namespace {

DType dtype_of(mlir::Value value) {
  return mlir::cast<graph::TensorType>(value.getType()).getDtype();
}

}  // namespace

KernelDraft::KernelDraft(LoweringContext& context, mlir::Operation* op)
    : context_(context),
      location_(op->getLoc()),
      builder_(mlir::OpBuilder::atBlockEnd(context.kernels().module().getBody())) {}

Buffer KernelDraft::operand(mlir::Value graph_value) {
  ValueId id = context_.value_of(graph_value);
  DType dtype = dtype_of(graph_value);
  auto found = std::find(step_.operands.begin(), step_.operands.end(), id);
  if (found == step_.operands.end()) {
    step_.operands.push_back(id);
    operand_types_.push_back(dtype);
    found = step_.operands.end() - 1;
  }
  return {Buffer::Role::kOperand, static_cast<int>(found - step_.operands.begin()), dtype};
}

Buffer KernelDraft::result(mlir::Value graph_value) {
  step_.results.push_back(context_.value_of(graph_value));
  result_types_.push_back(dtype_of(graph_value));
  return {Buffer::Role::kResult, static_cast<int>(step_.results.size()) - 1, result_types_.back()};
}

Buffer KernelDraft::temporary(DType dtype, Temporary temporary) {
  step_.temporaries.push_back(temporary);
  temporary_types_.push_back(dtype);
  return {Buffer::Role::kTemporary, static_cast<int>(step_.temporaries.size()) - 1, dtype};
}

Param KernelDraft::param(DimExpr expression) {
  step_.params.push_back(expression);
  return {static_cast<int>(step_.params.size()) - 1};
}

void KernelDraft::in_place(Buffer result, Buffer operand) {
  step_.in_place.push_back({result.index, operand.index});
}

void KernelDraft::open() {
  llvm::SmallVector<mlir::Type> types;
  for (const auto* list : {&operand_types_, &result_types_, &temporary_types_})
    for (DType dtype : *list)
      types.push_back(mlir::MemRefType::get({mlir::ShapedType::kDynamic},
                                            storage_type(builder_.getContext(), dtype)));
  types.append(step_.params.size() + 3, builder_.getIndexType());
  function_ =
      builder_.create<mlir::func::FuncOp>(location_, "draft", builder_.getFunctionType(types, {}));
  builder_.setInsertionPointToStart(function_.addEntryBlock());
}

mlir::Value KernelDraft::buffer(Buffer buffer) const {
  size_t first = 0;
  if (buffer.role != Buffer::Role::kOperand) first += operand_types_.size();
  if (buffer.role == Buffer::Role::kTemporary) first += result_types_.size();
  return const_cast<mlir::func::FuncOp&>(function_).getArgument(first + buffer.index);
}

mlir::Value KernelDraft::param(Param param) const {
  size_t first = operand_types_.size() + result_types_.size() + temporary_types_.size();
  return const_cast<mlir::func::FuncOp&>(function_).getArgument(first + param.index);
}

mlir::Value KernelDraft::begin() const { return param({static_cast<int>(step_.params.size())}); }
mlir::Value KernelDraft::end() const { return param({static_cast<int>(step_.params.size()) + 1}); }
mlir::Value KernelDraft::worker() const {
  return param({static_cast<int>(step_.params.size()) + 2});
}

Term KernelDraft::index(int64_t value) {
  return term(builder_.create<mlir::arith::ConstantIndexOp>(location_, value).getResult());
}

void KernelDraft::launch(llvm::StringRef kind, DimExpr grid, DimExpr grain) {
  builder_.create<mlir::func::ReturnOp>(location_);
  step_.grid = grid;
  step_.grain = grain;
  int buffers =
      static_cast<int>(operand_types_.size() + result_types_.size() + temporary_types_.size());
  step_.kernel =
      context_.kernels().intern(function_, kind, buffers, static_cast<int>(step_.params.size()));
  context_.launch(std::move(step_));
}

}  // namespace scopevm::compiler::kernels
