// Lists the copies of a placed graph with the reason for each. Private to compiler/placement.
#pragma once

#include <optional>
#include <string>

#include "compiler/graph/graph_ops.h"
#include "compiler/placement/place.h"

namespace scopevm::compiler::placement {

// Members as in Copy. Stored in the location of an sv.device_copy, so that passes which compare ops
// ignore it.
struct CopyReason {
  std::string value;
  std::string producer_reason;
  std::string consumer_reason;
};

mlir::Location with_reason(mlir::Location location, const CopyReason& reason);

// Empty for a copy that placement did not insert.
std::optional<CopyReason> copy_reason(graph::DeviceCopyOp copy);

// One Copy for each sv.device_copy of the module and each CallSite of its function, in the order of
// functions, sites and ops.
std::vector<Copy> copies_of(mlir::ModuleOp module, const Machine& machine);

}  // namespace scopevm::compiler::placement
