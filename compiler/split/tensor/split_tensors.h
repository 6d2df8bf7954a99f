// The split of the ops themselves, over a group of ranks (docs/ranks.md, "Splitting a model").
#pragma once

#include <string>

#include "compiler/split/pipeline/pipeline_stages.h"
#include "compiler/split/states.h"
#include "compiler/split/tensor/form.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "scopevm/status.h"

namespace scopevm::compiler::split {

// Replaces ops of the function by one for each rank of a group, on parts of the operands, and
// constrains each to the device of its rank. choose_ways() decides which ops, and how, for each
// block of the function. There is a group for each stage: devices[s * group.ranks() + r] is the
// name of the device of rank r of the group of stage s. An op that `stages` does not contain is in
// the last stage of its operands, and of the ops around it. Messages between ranks are ordinary
// copies: the placement stage inserts them where a rank reads a value of another one, and sums of
// parts are ops of each rank. `states`: see split(). Returns whether an op was divided.
Result<bool> split_tensors(mlir::func::FuncOp function, const Group& group, const StageOfOp& stages,
                           llvm::ArrayRef<std::string> devices, StateChoices& states);

}  // namespace scopevm::compiler::split
