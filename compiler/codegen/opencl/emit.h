// A kernels module as OpenCL C 1.2, for devices that build kernels from text.
//   emit.cpp        the whole way: passes, then functions and kernels as text
//   form.cpp        types and constants in OpenCL C
//   printer.cpp     functions and names; which function prints an operation (op_printers.h)
//   control_flow.cpp  loops and branches
//   arithmetic.cpp  one elementwise operation -> one expression
//   memory.cpp      loads and stores
//   lanes.cpp       operations that move lanes of vectors
#pragma once

#include <string>
#include <vector>

#include "compiler/kernels/target/target.h"
#include "compiler/program.h"
#include "scopevm/status.h"

namespace mlir {
class ModuleOp;
}

namespace scopevm::compiler::codegen {

// The target that kernels are generated for when they become OpenCL text.
kernels::Target opencl_target();

// The text of every kernel in `table`, and of the functions that they call. `kernels` stays as it
// is. The same module gives the same text. Errors: kUnsupported, with the operation's name, for
// what has no form in OpenCL C.
Result<std::string> emit_opencl(mlir::ModuleOp kernels, const std::vector<Kernel>& table);

}  // namespace scopevm::compiler::codegen
