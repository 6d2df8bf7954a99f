// Lists the sv.device_copy ops as `explain --copies` prints them; see copies.h and place.h.
#include "compiler/placement/why/copies.h"

#include "compiler/graph/diagnostics/op_name.h"
#include "compiler/placement/graph_problem.h"
#include "compiler/placement/why/call_tree.h"

namespace scopevm::compiler::placement {
namespace {

using graph::TensorType;

Copy read(graph::DeviceCopyOp copy) {
  auto type = mlir::cast<TensorType>(copy.getX().getType());
  // A copy that placement did not insert has no reason, and is listed by the name of its op.
  const CopyReason reason = copy_reason(copy).value_or(CopyReason{.value = graph::op_name(copy)});
  return {.value = reason.value,
          .bytes = type.getBytes(),
          .from = place_in_type(copy.getX()),
          .to = place_in_type(copy.getResult()),
          .producer_reason = reason.producer_reason,
          .consumer_reason = reason.consumer_reason};
}

}  // namespace

mlir::Location with_reason(mlir::Location location, const CopyReason& reason) {
  mlir::Builder builder(location.getContext());
  return mlir::FusedLoc::get(
      location.getContext(), location,
      builder.getStrArrayAttr({reason.value, reason.producer_reason, reason.consumer_reason}));
}

std::optional<CopyReason> copy_reason(graph::DeviceCopyOp copy) {
  auto fused = mlir::dyn_cast<mlir::FusedLoc>(copy.getLoc());
  auto strings = fused ? mlir::dyn_cast_or_null<mlir::ArrayAttr>(fused.getMetadata()) : nullptr;
  if (!strings || strings.size() != 3) return std::nullopt;
  auto text = [&](unsigned i) { return mlir::cast<mlir::StringAttr>(strings[i]).getValue().str(); };
  return CopyReason{text(0), text(1), text(2)};
}

std::vector<Copy> copies_of(mlir::ModuleOp module, const Machine& machine) {
  const CallTree calls(module, machine.devices.size() > 1);
  std::vector<Copy> copies;
  for (auto function : module.getOps<mlir::func::FuncOp>()) {
    const FunctionCalls& of = calls.of(function.getName());
    for (const CallSite& site : of.sites)
      function.walk([&](graph::DeviceCopyOp copy) {
        copies.push_back(copy_at(site, of, read(copy), site.times_of(copy)));
      });
  }
  return copies;
}

}  // namespace scopevm::compiler::placement
