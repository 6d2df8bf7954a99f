// Decides which parts of a graph a library computes.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "compiler/graph/external/extern.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "scopevm/c/external.h"
#include "scopevm/compiler.h"
#include "scopevm/status.h"

namespace scopevm::compiler::external {

// A part that a library accepts, as a module with a function `main` per alternative.
struct Alternatives {
  mlir::OwningOpRef<mlir::ModuleOp> library;
  mlir::OwningOpRef<mlir::ModuleOp> own;
  std::string key;                        // identifies the library and the function
  std::vector<graph::DimBindings> calls;  // the dims of `main` in the names of each call
};

// Whether an alternative is faster than the default: one without libraries, or the form of a
// convolution that is chosen without measurements. Measurements vary by about 2 %.
inline bool is_faster(double alternative_seconds, double default_seconds) {
  return alternative_seconds < 0.98 * default_seconds;
}

// Measures the alternatives: the times of all calls.
using MeasurePart = std::function<Result<PartSeconds>(Alternatives)>;

// Turns each part of the graph that matches a pattern of the library, and that the library accepts,
// into an sv.extern with calls. Constant operands that the library prepares are replaced. If the
// library merges parts, merged matches are offered first. Patterns are then tried one after the
// other, so that a part of a refused part can match a smaller pattern. If `measure` is set, a part
// that is faster with scopevm's kernels remains in the graph. No smaller pattern is tried for it,
// except for the matches of a merged part. Appends one entry per part to `parts`. Errors:
// kInvalidArgument (a pattern or a workspace formula is invalid), and those of
// scopevm_external_library::accept except kUnsupported, of prepare and of `measure`. REQUIRES:
// check_libraries() accepts the library.
Status take(mlir::ModuleOp module, const scopevm_external_library& library,
            const MeasurePart& measure, std::vector<ExternalExplanation::Part>& parts);

}  // namespace scopevm::compiler::external
