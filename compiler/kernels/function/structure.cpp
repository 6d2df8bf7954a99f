// The overloads of `lower` for ops that become at most one step without a kernel: constants,
// conditions, copies between places, and the string ops that the VM implements. See
// function_lowering.h.
#include "compiler/graph/diagnostics/op_name.h"
#include "compiler/kernels/function/function_lowering.h"
#include "compiler/kernels/op_lowerings.h"

namespace scopevm::compiler::kernels {
namespace {

// Returns the FunctionLowering, which these ops need. It is the only implementation of
// LoweringContext.
FunctionLowering& function(LoweringContext& context) {
  return static_cast<FunctionLowering&>(context);
}

llvm::LogicalResult lower_string_op(mlir::Operation* op, step::StringWork work,
                                    LoweringContext& context) {
  function(context).add_step(work, op);
  return mlir::success();
}

}  // namespace

void FunctionLowering::add_step(decltype(Step::work) work, mlir::Operation* op) {
  Step step{.name = op_name(op), .work = std::move(work)};
  for (mlir::Value operand : op->getOperands()) step.operands.push_back(value_of(operand));
  for (mlir::Value result : op->getResults()) step.results.push_back(value_of(result));
  push(std::move(step));
}

// value_of() creates a constant at its first use. collect_own_checks() adds the condition of an
// sv.require to the checks of the function.
llvm::LogicalResult lower(graph::ConstantOp, LoweringContext&) { return mlir::success(); }
llvm::LogicalResult lower(graph::RequireOp, LoweringContext&) { return mlir::success(); }

llvm::LogicalResult lower(graph::OnDeviceOp op, LoweringContext&) {
  return op.emitOpError("is placement-only but was not removed by placement");
}

llvm::LogicalResult lower(graph::PartitionOp op, LoweringContext&) {
  return op.emitOpError("must be outlined before it is lowered");
}

llvm::LogicalResult lower(graph::DeviceCopyOp op, LoweringContext& context) {
  function(context).add_step(step::Copy(), op);
  return mlir::success();
}

llvm::LogicalResult lower(graph::AssertOp op, LoweringContext& context) {
  std::string message = "\"" + graph::op_name(op) + "\": " + op.getMessage().str();
  function(context).add_step(step::Assert{std::move(message)}, op);
  return mlir::success();
}

llvm::LogicalResult lower(graph::StringToNumberOp op, LoweringContext& context) {
  return lower_string_op(op, {step::StringWork::Kind::kParse}, context);
}
llvm::LogicalResult lower(graph::NumberToStringOp op, LoweringContext& context) {
  return lower_string_op(op, {step::StringWork::Kind::kFormat}, context);
}
llvm::LogicalResult lower(graph::ChangeCaseOp op, LoweringContext& context) {
  return lower_string_op(
      op, {op.getUpper() ? step::StringWork::Kind::kUpper : step::StringWork::Kind::kLower},
      context);
}
llvm::LogicalResult lower(graph::ConcatStringsOp op, LoweringContext& context) {
  return lower_string_op(op, {step::StringWork::Kind::kConcat}, context);
}
llvm::LogicalResult lower(graph::CountPiecesOp op, LoweringContext& context) {
  return lower_string_op(
      op, {step::StringWork::Kind::kCountPieces, static_cast<int64_t>(op.getMaxSplits())}, context);
}
llvm::LogicalResult lower(graph::SplitStringsOp op, LoweringContext& context) {
  return lower_string_op(
      op, {step::StringWork::Kind::kSplit, static_cast<int64_t>(op.getMaxSplits())}, context);
}
llvm::LogicalResult lower(graph::MatchStringsOp op, LoweringContext& context) {
  return lower_string_op(op, {step::StringWork::Kind::kMatch}, context);
}

}  // namespace scopevm::compiler::kernels
