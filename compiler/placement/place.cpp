// Defaults places, and checks that each op stays on one device; see place.h.
#include "compiler/placement/place.h"

#include "compiler/graph/graph_ops.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace scopevm::placement {
namespace {

using graph::TensorType;

// "cpu.global.workspace" is scope "global.workspace" of device "cpu".
llvm::StringRef device_of(TensorType type) { return type.getPlace().getValue().split('.').first; }

class Placer {
 public:
  Placer(mlir::ModuleOp module, const Machine& machine)
      : module_(module),
        machine_(machine),
        default_(mlir::StringAttr::get(module.getContext(), machine.devices.front())) {}

  Status run() {
    module_.walk([&](mlir::Operation* op) {
      for (mlir::Value result : op->getResults()) give_place(result, op->getLoc());
      for (mlir::Region& region : op->getRegions())
        for (mlir::Block& block : region)
          for (mlir::BlockArgument argument : block.getArguments())
            give_place(argument, argument.getLoc());
    });
    module_.walk([&](mlir::func::FuncOp function) { update_signature(function); });
    module_.walk([&](mlir::Operation* op) { check_one_device(op); });
    return status_;
  }

 private:
  void give_place(mlir::Value value, mlir::Location location) {
    auto type = mlir::dyn_cast<TensorType>(value.getType());
    if (!type) return;
    if (!type.getPlace())
      value.setType(TensorType::get(type.getContext(), type.getDtype(), type.getShape(), default_));
    else if (!llvm::is_contained(machine_.devices, device_of(type)))
      fail(location,
           "place @" + type.getPlace().getValue() + " names a device that the machine lacks");
  }

  void update_signature(mlir::func::FuncOp function) {
    if (function.isExternal()) return;
    mlir::Block& entry = function.getBody().front();
    function.setType(mlir::FunctionType::get(function.getContext(), entry.getArgumentTypes(),
                                             entry.getTerminator()->getOperandTypes()));
  }

  void check_one_device(mlir::Operation* op) {
    if (!mlir::isa_and_nonnull<graph::GraphDialect>(op->getDialect())) return;
    llvm::StringRef device;
    auto visit = [&](mlir::Type type) {
      auto tensor = mlir::dyn_cast<TensorType>(type);
      if (!tensor || !tensor.getPlace()) return;
      if (device.empty()) device = device_of(tensor);
      if (device != device_of(tensor))
        fail(op->getLoc(), op->getName().getStringRef() + " has values on devices " + device +
                               " and " + device_of(tensor) + "; it needs one");
    };
    for (mlir::Type type : op->getOperandTypes()) visit(type);
    for (mlir::Type type : op->getResultTypes()) visit(type);
  }

  void fail(mlir::Location location, const llvm::Twine& message) {
    if (!status_.is_ok()) return;
    std::string text;
    llvm::raw_string_ostream(text) << location << ": " << message;
    status_ = Status(StatusCode::kInvalidModel, text);
  }

  mlir::ModuleOp module_;
  const Machine& machine_;
  mlir::StringAttr default_;
  Status status_;
};

}  // namespace

Status place(mlir::ModuleOp module, const Machine& machine) {
  return Placer(module, machine).run();
}

}  // namespace scopevm::placement
