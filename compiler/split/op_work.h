// Estimates of the work of ops and of the sizes of values, at typical sizes of requests.
#pragma once

#include "mlir/IR/Operation.h"

namespace scopevm::compiler::split {

bool is_constant(mlir::Value value);
// The bytes of a tensor; 0 for another value.
double bytes_of(mlir::Value value);
// The seconds of one execution on one core. Only the ratios of the times of ops matter.
double seconds_of(mlir::Operation* op);

}  // namespace scopevm::compiler::split
