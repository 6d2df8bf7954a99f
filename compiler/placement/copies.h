// The copies of a placed graph, and why each is made. Private to compiler/placement.
#pragma once

#include <optional>
#include <string>

#include "compiler/graph/graph_ops.h"
#include "compiler/placement/place.h"

namespace scopevm::compiler::placement {

// Members as in Copy. Part of the location of an sv.device_copy: it is about where the op comes
// from, and two copies that differ in it alone are equal.
struct CopyReason {
  std::string value;
  std::string made_because;
  std::string read_because;
};

mlir::Location with_reason(mlir::Location location, const CopyReason& reason);

// Empty for a copy that placement has not made.
std::optional<CopyReason> copy_reason(graph::DeviceCopyOp copy);

// Of each sv.device_copy of the module, for each of its function's calls that CallTree tells apart:
// in the order of functions, calls and ops.
std::vector<Copy> copies_of(mlir::ModuleOp module, const Machine& machine);

}  // namespace scopevm::compiler::placement
