// Moves the ops that become one kernel into an sv.group. A group is one of:
// - a contraction with its epilogue;
// - attention: a product, its epilogue, a softmax, a product;
// - a separable convolution or an inverted residual block: two or three convolutions, each with its
//   epilogue;
// - elementwise ops over one iteration space. One softmax, log_softmax or layer_norm along the last
//   dim can be among them, or a reduction can be the last op, but not both.
//
// A group grows greedily from its first op along uses, in program order. It is then cut back to its
// longest prefix in which only the last op has users outside the prefix, and which has at most
// kMaxInputs inputs. Finally, a group of a contraction takes the rest of attention or of a
// separable convolution, if there is one, and the slices that its matrix products can read in place
// (is_row_prefix()). Other groups absorb elementwise producers that only the group uses. The
// sv.group is inserted in place of its last op: all its operands are defined before that op, and
// all its users come after it. No op is computed twice.
#include "compiler/fusion/fuse.h"

#include "compiler/fusion/contraction_match.h"
#include "compiler/graph/control/isolated_body.h"
#include "compiler/graph/graph_ops.h"
#include "compiler/graph/rewrite/passes.h"
#include "compiler/graph/rewrite/placement_attributes.h"
#include "compiler/graph/values/elements.h"
#include "llvm/ADT/SetVector.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace scopevm::compiler::fusion {
namespace {

using graph::have_same_placement;
using graph::TensorType;

// Longer groups gain nothing and increase register pressure.
constexpr size_t kMaxGroup = 24;
// A heuristic. The encoding of a launch allows more buffers than this.
constexpr size_t kMaxInputs = 10;

using Group = llvm::SetVector<mlir::Operation*>;

// True if the kernel can embed the value. A constant that is required in a memory scope is read
// from that scope.
bool is_embeddable(mlir::Value value) {
  return graph::splat_bits(value.getDefiningOp()) && !graph::has_scope(value.getType());
}

TensorType result_type(mlir::Operation* op) { return graph::type_of(op->getResult(0)); }

bool is_contraction(mlir::Operation* op) { return mlir::isa<graph::ContractionOp>(op); }

bool is_reduction(mlir::Operation* op) { return mlir::isa<graph::ReductionOp>(op); }

// softmax, log_softmax or layer_norm along the last dim: its kernel fuses elementwise ops before
// and after it.
bool is_row_op(mlir::Operation* op) {
  auto row = mlir::dyn_cast<graph::RowOp>(op);
  return row && row.getRowAxis() == result_type(op).getRank() - 1;
}

// True if the first operand of `op` is a result of the group and the others are not. Row ops and
// reductions can fuse only their first operand.
bool reads_first(const Group& group, mlir::Operation* op) {
  for (mlir::OpOperand& operand : op->getOpOperands())
    if (group.contains(operand.get().getDefiningOp()) != (operand.getOperandNumber() == 0))
      return false;
  return true;
}

bool can_join(const Group& group, mlir::Operation* op) {
  mlir::Operation* first = group.front();
  if (!have_same_placement(first, op)) return false;
  if (is_contraction(first)) return can_fuse_epilogue(first, op);
  // No op can follow a reduction, because its result has another iteration space.
  if (is_reduction(group.back())) return false;
  bool is_special = is_row_op(op) || is_reduction(op);
  if (is_special && (llvm::any_of(group, is_row_op) || !reads_first(group, op))) return false;
  if (!is_special && !mlir::isa<graph::ElementwiseOp>(op)) return false;
  mlir::Type space = is_reduction(op) ? op->getOperand(0).getType() : result_type(op);
  return mlir::cast<TensorType>(space).getShape() == result_type(first).getShape();
}

// True if only the last op's result is used outside the group.
bool is_closed(const Group& group) {
  for (mlir::Operation* op : group)
    if (op != group.back())
      for (mlir::Operation* user : op->getUsers())
        if (!group.contains(user)) return false;
  return true;
}

llvm::SetVector<mlir::Value> inputs_of(const Group& group) {
  llvm::SetVector<mlir::Value> inputs;
  for (mlir::Operation* op : group)
    for (mlir::Value operand : op->getOperands())
      if (!group.contains(operand.getDefiningOp()) &&
          (is_contraction(op) || !is_embeddable(operand)))
        inputs.insert(operand);
  return inputs;
}

// The first op in program order that uses a result of the group and can join it.
mlir::Operation* next_member(const Group& group) {
  mlir::Operation* next = nullptr;
  for (mlir::Operation* op : group)
    for (mlir::Operation* user : op->getUsers())
      if (!group.contains(user) && user->getBlock() == op->getBlock() &&
          // Only ops after the last member can join, so the group stays in program order.
          group.back()->isBeforeInBlock(user) && can_join(group, user) &&
          (!next || user->isBeforeInBlock(next)))
        next = user;
  return next;
}

// `first` and the ops that join it.
Group with_epilogue(mlir::Operation* first) {
  Group group;
  group.insert(first);
  size_t closed = 1;
  while (group.size() < kMaxGroup) {
    mlir::Operation* next = next_member(group);
    if (!next) break;
    group.insert(next);
    // A group that is not closed, such as one side of a diamond, may be closed by later members.
    if (is_closed(group) && inputs_of(group).size() <= kMaxInputs) closed = group.size();
  }
  while (group.size() > closed) group.pop_back();
  return group;
}

// Adds the rest of attention or of a separable convolution to its first contraction and epilogue.
void take_tail(Group& group) {
  auto lowering = mlir::dyn_cast<graph::LoweringOp>(group.front());
  if (!lowering) return;
  Group all = group;
  for (mlir::Operation* op : lowering.getFusibleTail(
           group.back()->getResult(0),
           [](mlir::Operation* first) { return llvm::to_vector(with_epilogue(first)); })) {
    if (!have_same_placement(group.front(), op)) return;
    all.insert(op);
  }
  if (inputs_of(all).size() <= kMaxInputs) group = all;
}

Group grow(mlir::Operation* first) {
  Group group = with_epilogue(first);
  if (is_contraction(first)) take_tail(group);
  return group;
}

// Adds elementwise producers that only the group uses. Returns the group in program order.
Group absorb(const Group& group) {
  if (is_contraction(group.front())) return group;
  llvm::ArrayRef<DimExpr> space = result_type(group.front()).getShape();
  Group all = group;
  for (size_t i = 0; i < all.size() && all.size() < kMaxGroup; ++i)
    for (mlir::Value operand : all[i]->getOperands()) {
      mlir::Operation* producer = operand.getDefiningOp();
      if (!producer || producer->getBlock() != all[i]->getBlock() || all.contains(producer) ||
          !mlir::isa<graph::ElementwiseOp>(producer) || !have_same_placement(producer, all[i]) ||
          result_type(producer).getShape() != space ||
          (is_row_op(all[i]) && operand != all[i]->getOperand(0)) ||
          // A producer with another user would have to be computed twice.
          !llvm::all_of(producer->getUsers(), [&](auto* user) { return all.contains(user); }))
        continue;
      all.insert(producer);
      if (inputs_of(all).size() > kMaxInputs) all.pop_back();
    }
  llvm::SmallVector<mlir::Operation*> ordered = all.takeVector();
  llvm::sort(ordered, [](auto* a, auto* b) { return a->isBeforeInBlock(b); });
  return Group(ordered.begin(), ordered.end());
}

// Whether the kernel of the product reads a row of the operand at a stride of its own for each
// batch element. The rows of `a` in all batch elements are rows of one matrix if b is a single
// matrix.
bool has_batch_strides(graph::MatMulOp product, mlir::Value operand) {
  // b can be a vector: the result then has no columns.
  const graph::OutputAxes axes = product.getOutputAxes();
  return operand != product.getA() || axes.rows == axes.columns - 1;
}

// The slices that only a product of the group uses, and that it can read in place.
Group sliced_operands(const Group& group) {
  Group slices;
  for (mlir::Operation* op : group)
    if (auto product = mlir::dyn_cast<graph::MatMulOp>(op))
      for (mlir::Value operand : op->getOperands())
        if (auto slice = operand.getDefiningOp<graph::SliceOp>();
            slice && only_user(operand) == op && is_row_prefix(slice) &&
            has_batch_strides(product, operand) && have_same_placement(slice, op) &&
            !slice.getX().getDefiningOp<graph::ConstantOp>())
          slices.insert(slice);
  return slices;
}

// Moves the ops of the group into an sv.group, after `slices`, with copies of the splat constants
// that its kernel embeds.
void outline(const Group& group, const Group& slices) {
  Group all = slices;
  all.insert(group.begin(), group.end());
  const llvm::SetVector<mlir::Value> inputs = inputs_of(all);
  llvm::SetVector<mlir::Operation*> ops = slices;
  if (is_contraction(group.front())) ops.insert(group.front());
  for (mlir::Operation* op : group)
    for (mlir::Value operand : op->getOperands())
      if (!is_contraction(op) && is_embeddable(operand) && !inputs.contains(operand))
        ops.insert(operand.getDefiningOp());
  ops.insert(group.begin(), group.end());
  graph::form_group(ops.getArrayRef(), inputs.getArrayRef(),
                    llvm::map_to_vector(group, [](auto* op) { return op->getLoc(); }));
}

// Forms groups whose first op, before producers are absorbed, satisfies `is_first`.
void fuse_from(mlir::Block& block, llvm::function_ref<bool(mlir::Operation*)> is_first) {
  llvm::SetVector<mlir::Operation*> firsts;
  for (mlir::Operation& op : block)
    if (is_first(&op)) firsts.insert(&op);
  while (!firsts.empty()) {
    mlir::Operation* first = firsts.front();
    Group group = absorb(grow(first));
    for (mlir::Operation* op : group) firsts.remove(op);
    const Group slices = sliced_operands(group);
    if (group.size() + slices.size() > 1) outline(group, slices);
  }
}

}  // namespace

llvm::LogicalResult fuse(mlir::ModuleOp module) {
  for (auto function : module.getOps<mlir::func::FuncOp>()) {
    if (function.isExternal()) continue;
    for (mlir::Block* block : graph::blocks_of(function)) {
      // Groups of contractions are formed first, so that no elementwise group contains an op of
      // their epilogues. Groups that start with elementwise ops are next, so that a row op joins
      // the ops before it.
      fuse_from(*block, is_contraction);
      fuse_from(*block, [](mlir::Operation* op) { return mlir::isa<graph::ElementwiseOp>(op); });
      fuse_from(*block, is_row_op);
    }
    graph::remove_unused(function);
  }
  return mlir::success();
}

}  // namespace scopevm::compiler::fusion
