// Splits a model over the ranks of a machine (docs/ranks.md, "Splitting a model"), before the
// placement stage: it divides ops and constrains them to ranks, and placement finds the places of
// the others with the cheapest copies.
#pragma once

#include "compiler/machine/machine.h"
#include "compiler/options/split.h"
#include "compiler/split/states.h"
#include "mlir/IR/BuiltinOps.h"
#include "scopevm/status.h"

namespace scopevm::compiler::split {

// Splits the functions over all ranks of `machine`, the private ones only without a pipeline. Ops
// are placed on the first CPU of their rank. `states`: empty for main, which sets it, and then for
// its variants. Errors: kInvalidArgument (the machine has another
// number of ranks, a function has fewer ops with weights than parts, or no op can be divided).
Status split(mlir::ModuleOp module, const Machine& machine, const options::Split& by,
             StateChoices& states);

}  // namespace scopevm::compiler::split
