// Names taken from locations; see op_name.h.
#include "compiler/graph/diagnostics/op_name.h"

#include "compiler/graph/graph_ops.h"

namespace scopevm::compiler::graph {
namespace {

// The name in a location. The names in a fused location are joined with "+".
std::string name_in(mlir::Location location) {
  if (auto named = mlir::dyn_cast<mlir::NameLoc>(location)) return named.getName().str();
  if (auto fused = mlir::dyn_cast<mlir::FusedLoc>(location)) {
    std::string names;
    for (mlir::Location part : fused.getLocations()) {
      std::string name = name_in(part);
      if (!name.empty()) names += (names.empty() ? "" : "+") + name;
    }
    return names;
  }
  return "";
}

}  // namespace

mlir::Location op_location(mlir::MLIRContext* context, llvm::StringRef name,
                           llvm::StringRef model_kind) {
  return mlir::NameLoc::get(mlir::StringAttr::get(context, name),
                            mlir::NameLoc::get(mlir::StringAttr::get(context, model_kind)));
}

std::string model_kind(mlir::Operation* op) {
  if (const auto named = mlir::dyn_cast<mlir::NameLoc>(op->getLoc()))
    if (const auto kind = mlir::dyn_cast<mlir::NameLoc>(named.getChildLoc()))
      return kind.getName().str();
  return op_kind(op);
}

std::string op_kind(mlir::Operation* op) {
  llvm::StringRef kind = op->getName().stripDialect();
  kind.consume_front("blocked_");
  return kind.str();
}

std::string op_name(mlir::Operation* op) {
  std::string name = name_in(op->getLoc());
  if (!name.empty()) return name;
  auto group = mlir::dyn_cast<GroupOp>(op);
  if (!group) return op_kind(op);
  for (mlir::Operation& inner : group.getBody().front())
    if (!mlir::isa<ConstantOp, YieldOp>(inner)) name += (name.empty() ? "" : "+") + op_name(&inner);
  return name;
}

std::string input_name(mlir::Value value) {
  auto argument = mlir::dyn_cast<mlir::BlockArgument>(value);
  auto function =
      argument ? mlir::dyn_cast_or_null<mlir::func::FuncOp>(argument.getOwner()->getParentOp())
               : nullptr;
  if (!function) return "";
  auto name = function.getArgAttrOfType<mlir::StringAttr>(argument.getArgNumber(), "sv.name");
  return name ? name.str() : "input" + std::to_string(argument.getArgNumber());
}

std::string output_name(mlir::func::FuncOp function, unsigned index) {
  auto name = function.getResultAttrOfType<mlir::StringAttr>(index, "sv.name");
  return name ? name.str() : "output" + std::to_string(index);
}

}  // namespace scopevm::compiler::graph
