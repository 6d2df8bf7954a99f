// The kernels stage: a graph function whose groups are formed -> a Program function and the kernels
// that its steps launch.
#pragma once

#include "compiler/kernels/generator.h"
#include "compiler/program.h"
#include "scopevm/compiler.h"
#include "scopevm/status.h"

namespace scopevm::kernels {

// Lowers @main of `graph`, and the functions that it calls, for one target. `kernels` gets the
// bodies; the Program is the same for every target. `dims` bounds the named dimensions of @main.
// Errors: kUnsupported or kInternal with the op's location; see status_of_diagnostics.
Result<Program> lower(mlir::ModuleOp graph, KernelModule& kernels,
                      const std::map<std::string, DimBound>& dims);

}  // namespace scopevm::kernels
