// Decides which parts of a graph a library computes.
#pragma once

#include <string>
#include <vector>

#include "mlir/IR/BuiltinOps.h"
#include "scopevm/compiler.h"
#include "scopevm/external.h"
#include "scopevm/status.h"

namespace scopevm::compiler::external {

// Turns each part of the graph that matches a pattern of the library, and that the library accepts,
// into an sv.extern with calls. Constant operands that the library prepares are replaced. Patterns
// are tried one after the other, so that a part of a refused part can match a smaller pattern.
// Appends one entry per part to `parts`. Errors: kInvalidArgument (a pattern or a workspace formula
// is invalid), and those of scopevm_external_library::accept except kUnsupported, and of prepare.
// REQUIRES: check_libraries() accepts the library.
Status take(mlir::ModuleOp module, const scopevm_external_library& library,
            std::vector<ExternalExplanation::Part>& parts);

}  // namespace scopevm::compiler::external
