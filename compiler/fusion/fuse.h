// The fusion stage: ops of a placed graph -> groups, one per kernel.
//   fuse.cpp               forms the groups
//   contraction_match.cpp  decides which ops join a contraction; matches the groups of contractions
// The kernels stage uses the same matcher, and implements LoweringOp::getFusibleTail().
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace scopevm::compiler::fusion {

// Replaces the ops that become one kernel by one sv.group, in every function of `module` and in the
// regions of its branches and loops. Ops at different places, and ops with placement attributes
// (placement_attributes.h), are not grouped. Always succeeds.
llvm::LogicalResult fuse(mlir::ModuleOp module);

}  // namespace scopevm::compiler::fusion
