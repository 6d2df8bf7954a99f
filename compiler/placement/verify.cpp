// Checks places in types against the machine; see place.h. Shares no code with the solver.
#include "compiler/placement/graph_problem.h"
#include "mlir/IR/Matchers.h"

namespace scopevm::compiler::placement {
namespace {

using graph::TensorType;

class PlaceVerifier {
 public:
  PlaceVerifier(mlir::ModuleOp module, const Machine& machine)
      : module_(module), machine_(machine) {}

  Status run() {
    for (auto function : module_.getOps<mlir::func::FuncOp>())
      if (!function.isExternal()) check_function(function);
    module_.walk([&](mlir::Operation* op) {
      check_constant_pools(op);
      // The ops of a group run where the group runs; the group itself is checked.
      if (mlir::isa_and_nonnull<graph::GraphDialect>(op->getDialect()) &&
          !op->getParentWithTrait<graph::HasIsolatedBody>())
        check(op);
    });
    return status_;
  }

 private:
  void fail(mlir::Operation* op, const llvm::Twine& message) {
    if (!status_.ok()) return;
    const std::string where = location_text(op->getLoc());
    status_ = Status(StatusCode::kInvalidModel, (where.empty() ? "" : where + ": ") +
                                                    op->getName().getStringRef().str() + ": " +
                                                    message.str());
  }

  // The place in a tensor type. Null for other types, and, with an error, for a tensor without a
  // place.
  graph::PlaceAttr place(mlir::Operation* op, mlir::Type type) {
    auto tensor = mlir::dyn_cast<TensorType>(type);
    if (!tensor) return nullptr;
    if (!tensor.getPlace()) fail(op, "an operand or result has no place");
    return tensor.getPlace();
  }

  void check_reach(mlir::Operation* op, DeviceIndex device, mlir::Type type) {
    const graph::PlaceAttr at = place(op, type);
    if (!at) return;
    Result<PoolIndex> pool = parse_pool(at.str(), machine_);
    if (!pool.ok()) return fail(op, std::string(pool.status().message()));
    if (!machine_.reaches(device, *pool))
      fail(op, "runs on " + machine_.devices[device].name +
                   " and cannot access an operand or result in " + at.str());
  }

  void check_same(mlir::Operation* op, mlir::Type a, mlir::Type b, const char* what) {
    const graph::PlaceAttr first = place(op, a), second = place(op, b);
    if (first && second && first != second)
      fail(op, llvm::Twine(what) + " has place " + first.str() + ", expected " + second.str());
  }

  void check_function(mlir::func::FuncOp function) {
    mlir::Operation* last = function.getBody().front().getTerminator();
    for (auto [type, declared] : llvm::zip(last->getOperandTypes(), function.getResultTypes()))
      check_same(last, type, declared, "a result");
  }

  // A pool of constants stores the constants of the module and views of them.
  void check_constant_pools(mlir::Operation* op) {
    if (mlir::matchPattern(op, mlir::m_Constant()) || is_view_of_constant(op)) return;
    for (mlir::Value result : op->getResults()) check_stores_values(op, result);
    // The arguments of a group are its operands.
    if (op->hasTrait<graph::HasIsolatedBody>()) return;
    for (mlir::Region& region : op->getRegions())
      for (mlir::Value argument : region.getArguments()) check_stores_values(op, argument);
  }

  static bool is_view_of_constant(mlir::Operation* op) {
    auto view = mlir::dyn_cast<mlir::ViewLikeOpInterface>(op);
    return view && mlir::matchPattern(view.getViewSource(), mlir::m_Constant());
  }

  void check_stores_values(mlir::Operation* op, mlir::Value value) {
    auto tensor = mlir::dyn_cast<TensorType>(value.getType());
    if (!tensor || !tensor.getPlace()) return;
    const std::optional<PoolIndex> pool = pool_of(tensor.getPlace(), machine_);
    if (pool && machine_.pools[*pool].kind == PoolKind::kConstant)
      fail(op, "\"" + name_of(value) + "\" cannot be stored in " + tensor.getPlace().str() +
                   ": the pool is of kind \"constant\", which stores only constants of the model "
                   "that are within its limit");
  }

  void check(mlir::Operation* op) {
    if (op->hasTrait<mlir::OpTrait::IsTerminator>()) return;
    if (auto merge = mlir::dyn_cast<graph::MergeOp>(op)) return check_merge(merge);
    if (auto user = mlir::dyn_cast<graph::FunctionUserOp>(op); user && user.isCall())
      return check_call(user);
    if (mlir::isa<graph::OnDeviceOp>(op)) return fail(op, "is not allowed after placement");
    // A copy may connect any two different places.
    if (auto copy = mlir::dyn_cast<graph::DeviceCopyOp>(op)) {
      if (place(op, copy.getResult().getType()) == place(op, copy.getX().getType()))
        fail(op, "source and destination have the same place");
      return;
    }
    // A view shares the bytes of its operand, so both are in one pool. A view of a constant is
    // exempt: the constant is in "global" of the device that reads it, and the view may require
    // another scope.
    if (auto view = mlir::dyn_cast<mlir::ViewLikeOpInterface>(op); view && !is_view_of_constant(op))
      check_same(op, op->getResultTypes()[0], view.getViewSource().getType(), "a view");
    const DeviceIndex device = device_of(op, machine_);
    for (mlir::Type type : op->getOperandTypes()) check_reach(op, device, type);
    for (mlir::Type type : op->getResultTypes()) check_reach(op, device, type);
  }

  // A merged value never moves: the operands of a merge point, the arguments and the results share
  // one place.
  void check_merge(graph::MergeOp op) {
    check_merge_operands(op, op, "a loop-carried value");
    for (mlir::Region& region : op->getRegions()) {
      for (mlir::BlockArgument argument : region.getArguments())
        check_same(op, argument.getType(), op->getResult(argument.getArgNumber()).getType(),
                   "a loop-carried value");
      check_merge_operands(op, region.front().getTerminator(), "a yielded value");
    }
  }

  void check_merge_operands(graph::MergeOp op, mlir::Operation* reader, const char* what) {
    for (mlir::OpOperand& operand : reader->getOpOperands())
      if (mlir::OpResult result = op.getMergePoint(operand))
        check_same(op, operand.get().getType(), result.getType(), what);
      else
        check_reach(op, machine_.host_device(), operand.get().getType());
  }

  void check_call(graph::FunctionUserOp call) {
    auto callee = module_.lookupSymbol<mlir::func::FuncOp>(call.getCalleeAttr());
    for (auto [argument, declared] : llvm::zip(call->getOperandTypes(), callee.getArgumentTypes()))
      check_same(call, argument, declared, "an argument");
    for (auto [result, declared] : llvm::zip(call->getResultTypes(), callee.getResultTypes()))
      check_same(call, result, declared, "a result");
  }

  mlir::ModuleOp module_;
  const Machine& machine_;
  Status status_;
};

}  // namespace

Status verify_places(mlir::ModuleOp module, const Machine& machine) {
  return PlaceVerifier(module, machine).run();
}

}  // namespace scopevm::compiler::placement
