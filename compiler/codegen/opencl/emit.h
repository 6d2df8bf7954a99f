// Prints a kernels module as OpenCL C 1.2, for devices that build kernels from source.
//   emit.cpp          runs the passes, then prints functions and kernels
//   form.cpp          types and constants in OpenCL C
//   printer.cpp       functions and names; selects the printer of an operation (op_printers.h)
//   control_flow.cpp  loops and branches
//   arithmetic.cpp    one elementwise operation -> one expression
//   memory.cpp        loads and stores
//   lanes.cpp         operations that move lanes of vectors
#pragma once

#include <string>
#include <vector>

#include "compiler/program/program.h"
#include "compiler/schedule/target.h"
#include "scopevm/status.h"

namespace mlir {
class ModuleOp;
}

namespace scopevm::compiler::codegen {

// The target that kernels are generated for before they are printed as OpenCL C.
schedule::Target opencl_target();

// The source of every kernel in `table` and of the functions that they call. Does not modify
// `kernels`. Deterministic. Errors: kUnsupported, with the operation's name, for an operation
// without an OpenCL C equivalent.
Result<std::string> emit_opencl(mlir::ModuleOp kernels, const std::vector<Kernel>& table);

}  // namespace scopevm::compiler::codegen
