// The values of an sv.group inside and outside of its body.
#pragma once

#include "mlir/IR/Operation.h"

namespace scopevm::compiler::graph {

// The operand of `group` for an argument of its body. Any other value is returned unchanged.
inline mlir::Value outer_value(mlir::Value value, mlir::Operation* group) {
  auto argument = mlir::dyn_cast<mlir::BlockArgument>(value);
  if (!argument || argument.getOwner()->getParentOp() != group) return value;
  return group->getOperand(argument.getArgNumber());
}

}  // namespace scopevm::compiler::graph
