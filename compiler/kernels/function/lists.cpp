// Lowers list ops to steps; see function_lowering.h. A tensor in a list has its own storage in a
// heap pool, because its lifetime is known only at run time.
#include "compiler/graph/diagnostics/op_name.h"
#include "compiler/kernels/function/function_lowering.h"

namespace scopevm::compiler::kernels {
namespace {

std::optional<DimExpr> index_of(graph::DimsAttr index) {
  if (index.getValue().empty()) return std::nullopt;
  return index.getValue().front();
}

}  // namespace

mlir::Value viewed(mlir::Value value) {
  while (auto reshape = value.getDefiningOp<graph::ReshapeOp>()) value = reshape.getX();
  return value;
}

ValueId FunctionLowering::add_list(const std::string& name, graph::ListType type) {
  return add_value({.name = name,
                    .dtype = type.getDtype(),
                    .shape = {type.getShape().begin(), type.getShape().end()},
                    .place = place_of(type),
                    .storage = ValueStorage::kOwn,
                    .kind = type.getKind(),
                    .any_rank = type.getElements() != graph::ElementDims::kShape});
}

// Gives the value of a new list element its own storage if a step writes the value.
// separate_results ensures that no later step writes to this storage.
ValueId FunctionLowering::element_of(mlir::Value value) {
  ValueId id = value_of(value);
  Value& root = function_.values[root_of(function_, id)];
  if (root.origin == ValueOrigin::kStep) {
    root.storage = ValueStorage::kOwn;
    root.place.pool = program_.machine.global_pool(root.place.device);
  }
  return id;
}

llvm::LogicalResult FunctionLowering::lower(graph::ListOp op) {
  Step step{.work = step::MakeList()};
  for (mlir::Value element : op.getElements()) step.operands.push_back(element_of(element));
  step.results.push_back(value_of(op.getResult()));
  push(std::move(step));
  return mlir::success();
}

llvm::LogicalResult FunctionLowering::lower(graph::ListInsertOp op) {
  Step step{.work = step::ListInsert{index_of(op.getIndexAttr())}};
  step.operands = {value_of(op.getList()), element_of(op.getElement())};
  step.results = {value_of(op.getResult())};
  push(std::move(step));
  return mlir::success();
}

llvm::LogicalResult FunctionLowering::lower(graph::ListEraseOp op) {
  Step step{.work = step::ListErase{*index_of(op.getIndexAttr())}};
  step.operands = {value_of(op.getList())};
  step.results = {value_of(op.getResult())};
  push(std::move(step));
  return mlir::success();
}

llvm::LogicalResult FunctionLowering::lower(graph::ListSizeOp op) {
  push_read({value_of(op.getList())}, {{.symbol = op.getSymbol().str(),
                                        .source = RuntimeSymbol::Source::kSize,
                                        .what = "\"" + op_name(op) + "\" elements"}});
  return mlir::success();
}

// Gets the element, and then reads the dims that the type of the list does not determine.
llvm::LogicalResult FunctionLowering::lower(graph::ListGetOp op) {
  ValueId result = value_of(op.getResult());
  function_.values[result].storage = ValueStorage::kOwn;
  Step get{.work = step::ListGet{*index_of(op.getIndexAttr())}};
  get.operands = {value_of(op.getList())};
  get.results = {result};
  std::vector<RuntimeSymbol> symbols;
  add_dim_symbols(op.getSymbols(), op.getResult().getType(), 0, "\"" + op_name(op) + "\"", symbols);
  push_and_read(std::move(get), std::move(symbols));
  return mlir::success();
}

}  // namespace scopevm::compiler::kernels
