// Lowers calls and closures to steps; see function_lowering.h. The callee allocates the storages of
// the results. The caller's registers own these storages until their last use.
#include "compiler/graph/diagnostics/op_name.h"
#include "compiler/kernels/function/function_lowering.h"

namespace scopevm::compiler::kernels {

llvm::LogicalResult FunctionLowering::lower(graph::CallOp op) {
  lower_call(op, step::Call{functions_.find(op.getCallee().str())->second}, op.getSymbols());
  return mlir::success();
}

llvm::LogicalResult FunctionLowering::lower(graph::CallClosureOp op) {
  lower_call(op, step::CallClosure(), op.getSymbols());
  return mlir::success();
}

void FunctionLowering::lower_call(mlir::Operation* op, decltype(Step::work) work,
                                  mlir::ArrayAttr symbols) {
  Step call{.work = std::move(work)};
  for (mlir::Value argument : op->getOperands()) call.operands.push_back(value_of(argument));
  std::vector<RuntimeSymbol> defined;
  for (mlir::Value result : op->getResults()) {
    ValueId id = value_of(result);
    function_.values[id].storage = ValueStorage::kOwn;
    add_dim_symbols(symbols, result.getType(), call.results.size(), "\"" + op_name(op) + "\"",
                    defined);
    call.results.push_back(id);
  }
  push_and_read(std::move(call), std::move(defined));
}

// A closure can outlive the memory plan's buffers, so captured values have their own storages.
// separate_results has copied the values for which this is impossible.
llvm::LogicalResult FunctionLowering::lower(graph::ClosureOp op) {
  Step step{.work = step::MakeClosure{functions_.find(op.getCallee().str())->second}};
  for (mlir::Value captured : op.getCaptured()) {
    ValueId id = value_of(captured);
    if (function_.values[id].origin == ValueOrigin::kStep)
      function_.values[id].storage = ValueStorage::kOwn;
    step.operands.push_back(id);
  }
  step.results = {value_of(op.getResult())};
  push(std::move(step));
  return mlir::success();
}

}  // namespace scopevm::compiler::kernels
