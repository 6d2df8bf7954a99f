// Operations that move lanes of vectors, make masks or reduce.
#pragma once

#include "mlir/IR/Operation.h"

namespace scopevm::compiler::codegen::opencl {

class Printer;

// False when `op` is none of them, or has no form.
bool print_lanes(Printer& printer, mlir::Operation* op);

}  // namespace scopevm::compiler::codegen::opencl
