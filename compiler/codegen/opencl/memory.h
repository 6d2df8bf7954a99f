// Loads, stores and arrays of a function's own.
#pragma once

#include "mlir/IR/Operation.h"

namespace scopevm::compiler::codegen::opencl {

class Printer;

// False when `op` is none of them, or has no form.
bool print_memory(Printer& printer, mlir::Operation* op);

}  // namespace scopevm::compiler::codegen::opencl
