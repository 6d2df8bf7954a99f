// Checks that values in scope "local" are temporaries of kernels; see place.h.
#include "compiler/graph/diagnostics/op_name.h"
#include "compiler/graph/graph_ops.h"
#include "compiler/placement/place.h"

namespace scopevm::compiler::placement {
namespace {

// A reader of the result of `op` that its kernel does not contain; null if there is none.
mlir::Operation* reader_outside(mlir::Operation* op) {
  for (mlir::Operation* user : op->getUsers()) {
    mlir::Operation* group = op->getParentOp();
    if (!group->hasTrait<graph::HasIsolatedBody>()) return user;
    // Only the last op of a group is yielded, and its readers are outside.
    if (user->hasTrait<mlir::OpTrait::IsTerminator>()) return *group->user_begin();
  }
  return nullptr;
}

std::string reader_text(mlir::Operation* reader) {
  if (reader->hasTrait<mlir::OpTrait::IsTerminator>()) return "a result";
  if (mlir::isa<graph::DeviceCopyOp>(reader)) return "a copy to another memory";
  return "\"" + graph::op_name(reader) + "\"";
}

}  // namespace

Status verify_local_values(mlir::ModuleOp module) {
  Status status;
  module.walk([&](mlir::Operation* op) {
    auto why = op->getAttrOfType<mlir::StringAttr>(graph::kLocalAttribute);
    mlir::Operation* reader = why ? reader_outside(op) : nullptr;
    if (!reader) return mlir::WalkResult::advance();
    status = Status(StatusCode::kInvalidModel,
                    "\"" + graph::op_name(op) + "\" is required in scope local (" +
                        why.getValue().str() +
                        "), but its kernel does not contain its reader: " + reader_text(reader));
    return mlir::WalkResult::interrupt();
  });
  return status;
}

}  // namespace scopevm::compiler::placement
