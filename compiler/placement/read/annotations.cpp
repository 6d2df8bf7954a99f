// Finds the annotations that are copies; see the header.
#include "compiler/placement/read/annotations.h"

#include "compiler/placement/functions.h"
#include "llvm/ADT/DenseMap.h"

namespace scopevm::compiler::placement {
namespace {

// Whether an annotation constrains the maker of `value`.
bool is_annotated(mlir::Value value) {
  for (; auto inner = value.getDefiningOp<graph::OnDeviceOp>(); value = inner.getX())
    if (inner.getConstrainBody()) return true;
  return false;
}

}  // namespace

Annotations::Annotations(mlir::ModuleOp module, const Machine& machine) {
  llvm::DenseMap<mlir::Value, RequiredPlace> places;  // of annotations, by annotated value
  const llvm::SetVector<mlir::func::FuncOp> closures = functions_of_closures(module);
  const auto is_made_by_vm = [&](mlir::Value value) {
    if (mlir::Operation* maker = value.getDefiningOp()) {
      auto merge = mlir::dyn_cast<graph::MergeOp>(maker);
      return merge ? merge.isDynamicallySized(mlir::cast<mlir::OpResult>(value))
                   : mlir::isa<graph::HostOp>(maker);
    }
    auto argument = mlir::cast<mlir::BlockArgument>(value);
    auto function = mlir::dyn_cast<mlir::func::FuncOp>(argument.getOwner()->getParentOp());
    return function && closures.contains(function);
  };
  // The annotations of one value that are not nested are joined first, so that the copies do not
  // depend on the order of ops.
  for (bool is_nested : {false, true})
    module.walk([&](graph::OnDeviceOp annotation) {
      if (!annotation.getConstrainBody() || is_annotated(annotation.getX()) != is_nested) return;
      Result<RequiredPlace> place = parse_place(annotation.getPlace(), machine);
      if (!place.ok()) return;  // read_annotation() reports it
      const mlir::Value value = annotated(annotation.getX());
      const bool is_of_vm = is_made_by_vm(value);
      if (is_of_vm) places.try_emplace(value, place_of_vm(machine));
      auto [known, is_first] = places.try_emplace(value, *place);
      if (is_first) return;
      if (std::optional<RequiredPlace> both = joined(machine, known->second, *place)) {
        known->second = *both;
      } else if ((is_nested || is_of_vm) && !constrains_readers(annotation.getX())) {
        copies_.insert(annotation);
        places.try_emplace(annotation.getResult(), *place);
      }
    });
}

mlir::Value Annotations::annotated(mlir::Value value) const {
  for (; auto annotation = value.getDefiningOp<graph::OnDeviceOp>(); value = annotation.getX())
    if (copies_.contains(annotation)) break;
  return value;
}

bool Annotations::constrains_readers(mlir::Value value) const {
  for (; auto inner = value.getDefiningOp<graph::OnDeviceOp>(); value = inner.getX()) {
    if (inner.getConstrainResult()) return true;
    if (copies_.contains(inner)) return false;
  }
  return false;
}

RequiredPlace place_of_vm(const Machine& machine) {
  const DeviceIndex host = machine.host_device();
  return {.device = host, .pool = machine.global_pool(host)};
}

}  // namespace scopevm::compiler::placement
