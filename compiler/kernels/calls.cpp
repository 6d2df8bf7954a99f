// sv.call -> a step; see function_lowering.h. Its results are storages that the callee makes, and
// that the caller's registers keep until their last use.
#include "compiler/kernels/checks.h"
#include "compiler/kernels/function_lowering.h"

namespace scopevm::kernels {

void FunctionLowering::lower_call(graph::CallOp op) {
  Step call{.kind = StepKind::kCall, .callee = functions_.find(op.getCallee().str())->second};
  for (mlir::Value argument : op.getArguments()) call.operands.push_back(value_of(argument));
  std::vector<Birth> births;
  for (mlir::Value result : op.getOutputs()) {
    ValueId id = value_of(result);
    function_.values[id].storage = ValueStorage::kOwn;
    add_dim_births(op.getSymbols(), result.getType(), static_cast<int>(call.results.size()),
                   "\"" + op_name(op) + "\"", births);
    call.results.push_back(id);
  }
  Step read{.kind = StepKind::kRead, .operands = call.results};
  if (!births.empty()) read.stage = new_stage(std::move(births));
  push(std::move(call));
  if (read.stage >= 0) push(std::move(read));
}

}  // namespace scopevm::kernels
