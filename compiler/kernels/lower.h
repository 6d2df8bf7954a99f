// The kernels stage: a graph function whose groups are formed -> a Program function and the kernels
// that its steps launch.
#pragma once

#include "compiler/kernels/generator.h"
#include "compiler/program.h"
#include "scopevm/compiler.h"
#include "scopevm/status.h"

namespace scopevm::compiler::kernels {

// One function of the program to be.
struct GraphFunction {
  mlir::ModuleOp graph;
  std::string name;                      // in the graph
  std::map<std::string, DimBound> dims;  // of the named dimensions
};

// Lowers functions, then the functions that they call. The modules in `kernels` get the bodies. The
// Program is the same for every target that a device's kernels may be made for. Constants of equal
// bytes, type and dims are one, whichever functions use them. Errors: kUnsupported or kInternal
// with the op's location; see status_of_diagnostics.
Result<Program> lower(llvm::ArrayRef<GraphFunction> functions, const Machine& machine,
                      const ModulesByDevice& kernels);

}  // namespace scopevm::compiler::kernels
