// Inserts copies of values whose storage cannot be yielded, returned, captured, put in a list or
// overwritten by a loop; see function_lowering.h.
#include <set>

#include "compiler/kernels/function/function_lowering.h"
#include "mlir/IR/Builders.h"

namespace scopevm::compiler::kernels {
namespace {

using graph::TensorType;

// True if an op of this block computes the value and writes it to a storage that the consumer can
// choose.
bool is_written_in(mlir::Value value, mlir::Block* block) {
  mlir::Operation* op = value.getDefiningOp();
  return op && op->getBlock() == block && !op->hasTrait<graph::ProvidesStorage>();
}

void copy_operand(mlir::OpOperand& operand) {
  mlir::Value value = operand.get();
  auto type = mlir::cast<TensorType>(value.getType());
  mlir::OpBuilder builder(operand.getOwner());
  operand.set(builder.create<graph::ExpandOp>(
      value.getLoc(), type, value, graph::DimsAttr::get(type.getContext(), type.getShape())));
}

// Copies tensor operands of a terminator, so that they are distinct values with their own storage.
// Skips the operands before `first`, and those for which `may_pass` returns true. The arguments of
// `may_pass` are the operand's index minus `first`, and the value.
void separate(mlir::Operation* terminator, size_t first,
              llvm::function_ref<bool(size_t, mlir::Value)> may_pass) {
  std::set<void*> taken;
  for (mlir::OpOperand& operand : terminator->getOpOperands().drop_front(first)) {
    mlir::Value value = operand.get();
    if (!mlir::isa<TensorType>(value.getType())) continue;
    if (may_pass(operand.getOperandNumber() - first, value)) continue;
    if (!is_written_in(value, terminator->getBlock()) ||
        !taken.insert(value.getAsOpaquePointer()).second)
      copy_operand(operand);
  }
}

// Copies the operands of the function's return whose storage cannot be returned. A view of a value
// that a step or a branch writes needs no copy.
void separate_returned(mlir::Operation* terminator) {
  std::set<void*> taken;
  for (mlir::OpOperand& operand : terminator->getOpOperands()) {
    if (!mlir::isa<TensorType>(operand.get().getType())) continue;
    mlir::Value root = viewed(operand.get());
    auto loop = root.getDefiningOp<graph::LoopOp>();
    // A loop-carried result shares its register with the initial value and the body argument. It
    // cannot be stored in a buffer of the caller.
    bool is_carried =
        loop && mlir::cast<mlir::OpResult>(root).getResultNumber() < loop.getInitial().size();
    // Inputs belong to the caller, and constants to the module.
    bool is_own = root.getDefiningOp() && !root.getDefiningOp<graph::ConstantOp>() && !is_carried;
    if (!is_own || !taken.insert(root.getAsOpaquePointer()).second) copy_operand(operand);
  }
}

// Copies the condition of a loop if it shares storage with an argument of the body or with another
// operand of the terminator. The condition is read after the carried values of the next iteration
// are written.
void separate_condition(mlir::Operation* terminator) {
  mlir::OpOperand& condition = terminator->getOpOperand(0);
  mlir::Value root = viewed(condition.get());
  const bool is_argument = !root.getDefiningOp() && root.getParentBlock() == terminator->getBlock();
  const bool is_yielded = llvm::any_of(terminator->getOperands().drop_front(),
                                       [&](mlir::Value value) { return viewed(value) == root; });
  if (is_argument || is_yielded) copy_operand(condition);
}

void separate_loop(graph::LoopOp loop) {
  for (mlir::OpOperand& initial : loop->getOpOperands())
    if (mlir::isa<TensorType>(initial.get().getType()) &&
        // The loop overwrites the storage of its initial values, so no other op may read them.
        (!is_written_in(initial.get(), loop->getBlock()) || !initial.get().hasOneUse()))
      copy_operand(initial);
  mlir::Block& body = loop.getBody().front();
  mlir::Operation* terminator = body.getTerminator();
  if (loop.getHasCondition()) separate_condition(terminator);
  separate(terminator, loop.getHasCondition() ? 1 : 0, [&](size_t i, mlir::Value value) {
    return i < body.getNumArguments() && value == body.getArgument(static_cast<unsigned>(i));
  });
}

// True for inputs of the model, which do not change during the call. Arguments of a callee can
// change, because the memory plan of its caller can reuse their storage.
bool is_of_the_model(mlir::Value value) {
  auto argument = mlir::dyn_cast<mlir::BlockArgument>(value);
  auto function =
      argument ? mlir::dyn_cast<mlir::func::FuncOp>(argument.getOwner()->getParentOp()) : nullptr;
  return function && function.isPublic();
}

// Copies captured values, except constants and inputs of the model.
void separate_captured(graph::ClosureOp closure) {
  for (mlir::OpOperand& operand : closure->getOpOperands()) {
    bool is_fixed =
        operand.get().getDefiningOp<graph::ConstantOp>() || is_of_the_model(operand.get());
    auto copy = operand.get().getDefiningOp<graph::ExpandOp>();
    // A copy that an earlier run inserted needs no further copy, so that separate_results is
    // idempotent.
    bool is_copy = copy && copy->hasOneUse() && copy->getBlock() == closure->getBlock();
    if (!is_fixed && !is_copy) copy_operand(operand);
  }
}

// Copies each new element of a list whose value could change while the list exists. Inputs of the
// model, constants and elements of another list do not change. A value that an op of the block
// computes can change only if it is yielded or is an operand of a loop: a loop can overwrite the
// storage of such a value.
void separate_elements(mlir::Operation* list) {
  for (mlir::OpOperand& operand : list->getOpOperands()) {
    if (!mlir::isa<TensorType>(operand.get().getType())) continue;
    mlir::Value root = viewed(operand.get());
    mlir::Operation* op = root.getDefiningOp();
    bool is_fixed = op ? mlir::isa<graph::ConstantOp, graph::ListGetOp>(op) : is_of_the_model(root);
    bool may_be_overwritten = llvm::any_of(root.getUsers(), [](mlir::Operation* user) {
      return mlir::isa<graph::YieldOp, graph::LoopOp>(user);
    });
    if (!is_fixed && (!is_written_in(root, list->getBlock()) || may_be_overwritten))
      copy_operand(operand);
  }
}

}  // namespace

void separate_results(mlir::func::FuncOp function) {
  function.walk([](mlir::Operation* op) {
    if (auto loop = mlir::dyn_cast<graph::LoopOp>(op)) separate_loop(loop);
    if (auto closure = mlir::dyn_cast<graph::ClosureOp>(op)) separate_captured(closure);
    if (mlir::isa<graph::ListOp, graph::ListInsertOp>(op)) separate_elements(op);
    if (auto branch = mlir::dyn_cast<graph::IfOp>(op))
      for (mlir::Region* region : {&branch.getThen(), &branch.getOtherwise()})
        separate(region->front().getTerminator(), 0, [](size_t, mlir::Value) { return false; });
  });
  separate_returned(function.getBody().front().getTerminator());
}

}  // namespace scopevm::compiler::kernels
