// Turns the places in parsed types into placement constraints. After that, no type has a place
// until the placement stage, so that passes cannot copy a place to another value.
#include "compiler/import/assembly/places.h"

#include "compiler/graph/graph_ops.h"
#include "compiler/graph/rewrite/placement_attributes.h"
#include "mlir/IR/Builders.h"

namespace scopevm::compiler::frontend {
namespace {

using graph::PlaceAttr;
using graph::TensorType;

PlaceAttr take_place(mlir::Value value) {
  auto type = mlir::dyn_cast<TensorType>(value.getType());
  if (!type || !type.getPlace()) return nullptr;
  value.setType(type.withPlace(nullptr));
  return type.getPlace();
}

void lift_results(mlir::Operation* op) {
  mlir::OpBuilder builder(op->getContext());
  builder.setInsertionPointAfter(op);
  for (mlir::Value result : op->getResults()) {
    const PlaceAttr place = take_place(result);
    // The place of a copy is already an attribute of the copy. The place of a constant is a
    // constraint only if it has a memory scope.
    if (!place || mlir::isa<graph::DeviceCopyOp>(op)) continue;
    if (mlir::isa<graph::ConstantOp>(op) && place.getScope().empty()) continue;
    auto annotation = builder.create<graph::OnDeviceOp>(op->getLoc(), result.getType(), result,
                                                        place.str(), true, false);
    result.replaceAllUsesExcept(annotation, annotation);
  }
  op->removeAttr(graph::kDeviceAttribute);
}

void lift_signature(mlir::func::FuncOp function) {
  mlir::Builder builder(function.getContext());
  for (mlir::BlockArgument argument : function.getArguments())
    if (const PlaceAttr place = take_place(argument))
      function.setArgAttr(argument.getArgNumber(), graph::kPlaceAttribute,
                          builder.getStringAttr(place.str()));
  llvm::SmallVector<mlir::Type> results(function.getResultTypes());
  for (auto [i, type] : llvm::enumerate(results)) {
    auto tensor = mlir::dyn_cast<TensorType>(type);
    if (!tensor || !tensor.getPlace()) continue;
    function.setResultAttr(static_cast<unsigned>(i), graph::kPlaceAttribute,
                           builder.getStringAttr(tensor.getPlace().str()));
    type = tensor.withPlace(nullptr);
  }
  // The function's type includes the argument types, whose places have been removed above.
  function.setType(mlir::FunctionType::get(function.getContext(),
                                           function.getBody().front().getArgumentTypes(), results));
}

}  // namespace

void lift_places(mlir::ModuleOp module) {
  llvm::SmallVector<mlir::Operation*> ops;
  module.walk([&](mlir::Operation* op) {
    if (mlir::isa_and_nonnull<graph::GraphDialect>(op->getDialect())) ops.push_back(op);
  });
  for (mlir::Operation* op : ops) {
    for (mlir::Region& region : op->getRegions())
      // A loop argument has the place of the loop's result, which lift_results() handles.
      for (mlir::BlockArgument argument : region.getArguments()) take_place(argument);
    lift_results(op);
  }
  for (auto function : module.getOps<mlir::func::FuncOp>())
    if (!function.isExternal()) lift_signature(function);
}

}  // namespace scopevm::compiler::frontend
