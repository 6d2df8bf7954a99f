// The kernels stage: lowers graph functions with fusion groups to Program functions, and generates
// the kernels that their steps launch.
#pragma once

#include "compiler/kernels/generators.h"
#include "compiler/program/program.h"
#include "scopevm/compiler.h"
#include "scopevm/status.h"

namespace scopevm::compiler::kernels {

// A graph function to be lowered.
struct GraphFunction {
  mlir::ModuleOp graph;
  std::string name;                      // symbol name in the graph
  std::map<std::string, DimBound> dims;  // bounds of the named dims
};

// Lowers `functions`, then the functions that they call, and adds kernels to the modules in
// `kernels`. The Program does not depend on the targets of the modules. Functions share constants
// with equal bytes, type, dims and pool. Fails with kInvalidModel for a missing function or an
// invalid use of a symbol, and with kUnsupported for an op without a kernel.
Result<Program> lower_program(llvm::ArrayRef<GraphFunction> functions, const Machine& machine,
                              const ModulesByDevice& kernels);

}  // namespace scopevm::compiler::kernels
