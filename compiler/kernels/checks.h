// Conditions on dims that type rules left to the request: where two symbolic dims must be equal, or
// must broadcast.
#pragma once

#include <vector>

#include "compiler/graph/op_name.h"
#include "compiler/program.h"
#include "mlir/IR/Operation.h"

namespace scopevm::compiler::kernels {

// Appends the checks of one graph op (also one inside a group), made when stage `scope` runs.
// Provable ones are left out.
void collect_checks(mlir::Operation* op, int scope, std::vector<Check>& checks);

using graph::op_name;

}  // namespace scopevm::compiler::kernels
