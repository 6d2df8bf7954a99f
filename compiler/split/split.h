// Splits a model over the ranks of a machine (docs/ranks.md, "Splitting a model"), before the
// placement stage: it constrains some ops to ranks, and placement finds the places of the others
// with the cheapest copies.
#pragma once

#include "compiler/machine/machine.h"
#include "mlir/IR/BuiltinOps.h"
#include "scopevm/status.h"

namespace scopevm::compiler::split {

// Assigns the ops with weights, products and windows of each public function to `ranks` ranks, in
// the order of the function: those of rank 0 come first. An op is placed on the first CPU of its
// rank. See divide() in stages.h for the criteria. Errors: kInvalidArgument (a function has fewer
// such ops than ranks, or the machine has another number of ranks).
Status split_pipeline(mlir::ModuleOp module, const Machine& machine, int ranks);

}  // namespace scopevm::compiler::split
