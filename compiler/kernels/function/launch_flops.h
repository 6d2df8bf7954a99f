// The floating-point operations of an op, for the reports of its launches.
#pragma once

#include "compiler/dims/dim_expr.h"
#include "mlir/IR/Operation.h"

namespace scopevm::compiler::kernels {

// Of a group: the sum over its ops. 0 if the number is unknown, and for an op without
// floating-point arithmetic.
DimExpr launch_flops(mlir::Operation* op);

}  // namespace scopevm::compiler::kernels
