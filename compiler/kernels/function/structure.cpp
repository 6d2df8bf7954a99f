// The lowering of ops that become steps without kernels: values, control flow, calls, lists,
// copies, and the string ops that the VM runs itself. See function_lowering.h.
#include "compiler/graph/diagnostics/op_name.h"
#include "compiler/kernels/function/function_lowering.h"
#include "compiler/kernels/lowering.h"

namespace scopevm::compiler::kernels {
namespace {

// FunctionLowering is what implements LoweringContext; these ops need more of it than kernels do.
FunctionLowering& function(LoweringContext& context) {
  return static_cast<FunctionLowering&>(context);
}

llvm::LogicalResult lower_string_op(mlir::Operation* op, TextWork work, LoweringContext& context) {
  function(context).add_step({.kind = StepKind::kText, .text = work}, op);
  return mlir::success();
}

}  // namespace

void FunctionLowering::add_step(Step step, mlir::Operation* op) {
  for (mlir::Value operand : op->getOperands()) step.operands.push_back(value_of(operand));
  for (mlir::Value result : op->getResults()) step.results.push_back(value_of(result));
  push(std::move(step));
}

// A constant is made when it is first used; a requirement is a check of the request.
llvm::LogicalResult lower(graph::ConstantOp, LoweringContext&) { return mlir::success(); }
llvm::LogicalResult lower(graph::RequireOp, LoweringContext&) { return mlir::success(); }

llvm::LogicalResult lower(graph::OnDeviceOp op, LoweringContext&) {
  return op.emitOpError("is left after placement");
}

llvm::LogicalResult lower(graph::DeviceCopyOp op, LoweringContext& context) {
  function(context).add_step({.kind = StepKind::kCopy, .name = graph::op_name(op)}, op);
  return mlir::success();
}

llvm::LogicalResult lower(graph::AssertOp op, LoweringContext& context) {
  Step step{.kind = StepKind::kAssert};
  step.message = "\"" + graph::op_name(op) + "\": " + op.getMessage().str();
  function(context).add_step(std::move(step), op);
  return mlir::success();
}

llvm::LogicalResult lower(graph::ParseTextOp op, LoweringContext& context) {
  return lower_string_op(op, TextWork::kParse, context);
}
llvm::LogicalResult lower(graph::FormatTextOp op, LoweringContext& context) {
  return lower_string_op(op, TextWork::kFormat, context);
}
llvm::LogicalResult lower(graph::ChangeCaseOp op, LoweringContext& context) {
  return lower_string_op(op, op.getUpper() ? TextWork::kUpper : TextWork::kLower, context);
}

llvm::LogicalResult lower(graph::ReshapeOp op, LoweringContext& context) {
  return function(context).lower(op);
}
llvm::LogicalResult lower(graph::ReadDimsOp op, LoweringContext& context) {
  return function(context).lower(op);
}
llvm::LogicalResult lower(graph::IfOp op, LoweringContext& context) {
  return function(context).lower(op);
}
llvm::LogicalResult lower(graph::LoopOp op, LoweringContext& context) {
  return function(context).lower(op);
}
llvm::LogicalResult lower(graph::CallOp op, LoweringContext& context) {
  return function(context).lower(op);
}
llvm::LogicalResult lower(graph::CallClosureOp op, LoweringContext& context) {
  return function(context).lower(op);
}
llvm::LogicalResult lower(graph::ClosureOp op, LoweringContext& context) {
  return function(context).lower(op);
}
llvm::LogicalResult lower(graph::ListOp op, LoweringContext& context) {
  return function(context).lower(op);
}
llvm::LogicalResult lower(graph::ListGetOp op, LoweringContext& context) {
  return function(context).lower(op);
}
llvm::LogicalResult lower(graph::ListInsertOp op, LoweringContext& context) {
  return function(context).lower(op);
}
llvm::LogicalResult lower(graph::ListEraseOp op, LoweringContext& context) {
  return function(context).lower(op);
}
llvm::LogicalResult lower(graph::ListSizeOp op, LoweringContext& context) {
  return function(context).lower(op);
}

}  // namespace scopevm::compiler::kernels
