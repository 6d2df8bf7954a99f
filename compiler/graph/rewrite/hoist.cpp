// Loop-invariant code motion, and batching of row-wise products. In each iteration, a value of the
// loop body can be one row of a tensor that does not depend on the iteration. If that value depends
// on a matrix product, the tensor is computed before the loop, for all iterations at once.
//   split_loop.cpp   splits a loop in two, so that the second loop has such products
#include "compiler/graph/diagnostics/request_checks.h"
#include "compiler/graph/rewrite/loop_body.h"
#include "compiler/graph/rewrite/passes.h"
#include "compiler/graph/rewrite/placement_attributes.h"
#include "compiler/graph/rewrite/split_loop.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"

namespace scopevm::compiler::graph {
namespace {

// True if every execution of the loop runs its body.
bool always_runs(LoopOp loop) {
  const llvm::ArrayRef<DimExpr> count = loop.getTripCount().getValue();
  return !loop.getHasCondition() && count.size() == 1 && interval_of(count.front()).min > 0;
}

// True if a request can fail in `op`: the op checks its input, or has checks of dims.
bool may_fail(mlir::Operation* op) {
  std::vector<Check> checks;
  collect_checks(op, SegmentIndex{0}, checks);
  return mlir::isa<StringToNumberOp>(op) || !checks.empty();
}

// An op that can fail is not moved out of a loop that can run zero times: a request that does not
// execute the op must not fail in it.
bool may_move_out(mlir::Operation* op, LoopOp loop) {
  return mlir::isPure(op) && (always_runs(loop) || !may_fail(op));
}

// --- Loop invariants. ---------------------------------------------------------------------------

bool hoist_invariants(LoopOp loop) {
  std::set<std::string> inner = symbols_defined_in(loop);
  bool changed = false;
  for (mlir::Operation& op :
       llvm::make_early_inc_range(loop.getBody().front().without_terminator())) {
    // Operands that are already hoisted count as outside, so one pass in program order hoists whole
    // chains. Ops whose dims use symbols of the body are not hoisted.
    bool is_invariant =
        op.getNumRegions() == 0 && !mentions(&op, inner) && may_move_out(&op, loop) &&
        llvm::all_of(op.getOperands(),
                     [&](mlir::Value operand) { return is_outside(operand, loop); });
    if (!is_invariant) continue;
    op.moveBefore(loop);
    changed = true;
  }
  return changed;
}

// --- Rows. --------------------------------------------------------------------------------------

// True if `at` is i or n - 1 - i, where i is the index of the loop and n its trip count.
bool is_row_index(LoopOp loop, DimExpr at) {
  DimExpr i = DimExpr::symbol(loop.getIndex().str());
  return at == i || at == loop.getTripCount().getValue().front() - DimExpr(1) - i;
}

bool has_row_per_iteration(LoopOp loop, mlir::Value x) {
  llvm::ArrayRef<DimExpr> count = loop.getTripCount().getValue();
  return is_outside(x, loop) && type_of(x).getRank() > 0 && count.size() == 1 &&
         type_of(x).getDim(0) == count.front();
}

// Row `at` of x, as a value of type `type`.
mlir::Value row_of(mlir::OpBuilder& builder, mlir::Location location, mlir::Value x, DimExpr at,
                   TensorType type) {
  mlir::MLIRContext* context = builder.getContext();
  // A slice keeps the row axis with size 1; the reshape removes it. Both are views, so no row is
  // copied.
  llvm::SmallVector<DimExpr> starts(type_of(x).getRank(), DimExpr(0));
  llvm::SmallVector<DimExpr> sizes(type_of(x).getShape());
  llvm::SmallVector<int64_t> steps(starts.size(), 1);
  starts[0] = at;
  sizes[0] = 1;
  mlir::Value row =
      builder.create<SliceOp>(location, type_of(x).withShape(sizes), x,
                              DimsAttr::get(context, starts), DimsAttr::get(context, sizes), steps);
  return builder.create<ReshapeOp>(location, type, row, DimsAttr::get(context, type.getShape()));
}

// True if `op` can be a view: its place is not constrained, and operand 0 and the result have the
// same place, because a view shares the storage of its operand.
bool is_view(mlir::Operation* op) {
  return !is_constrained(op) &&
         type_of(op->getOperand(0)).getPlace() == type_of(op->getResult(0)).getPlace();
}

// Replaces gather(x, [i]) by a slice if i is provably a valid row of x.
bool slice_gathers(LoopOp loop) {
  bool changed = false;
  for (mlir::Operation& op : llvm::make_early_inc_range(loop.getBody().front())) {
    auto gather = mlir::dyn_cast<GatherOp>(op);
    if (!gather || gather.getAxis() != 0 || !has_row_per_iteration(loop, gather.getX()) ||
        !is_view(gather))
      continue;
    auto index = gather.getIndices().getDefiningOp<DimsTensorOp>();
    if (!index || index.getDims().getValue().size() != 1 ||
        !is_row_index(loop, index.getDims().getValue().front()))
      continue;
    mlir::OpBuilder builder(gather);
    gather.getResult().replaceAllUsesWith(row_of(builder, gather.getLoc(), gather.getX(),
                                                 index.getDims().getValue().front(),
                                                 type_of(gather.getResult())));
    gather.erase();
    changed = true;
  }
  return changed;
}

// Finds values of the body that are rows of a tensor that can be computed outside the loop. If such
// values depend on a matrix product, computes the tensor before the loop.
class RowHoister {
 public:
  explicit RowHoister(LoopOp loop)
      : loop_(loop), builder_(loop), inner_(symbols_defined_in(loop)) {}

  bool run() {
    if (loop_.getHasCondition()) return false;  // An early exit would leave computed rows unused.
    mlir::Block& body = loop_.getBody().front();
    llvm::SmallVector<mlir::Operation*> ops;
    for (mlir::Operation& op : body.without_terminator()) {
      find_row(&op);
      if (rows_.contains(&op)) ops.push_back(&op);
    }
    bool changed = false;
    for (mlir::Operation* op : ops) {
      bool is_needed =
          // If all users are rows, they are computed outside the loop, and this op with them.
          llvm::any_of(op->getUsers(), [&](auto* user) { return !rows_.contains(user); });
      // Without a product, computing all rows at once saves no time and costs memory, because each
      // row is stored before it is used.
      if (!rows_[op].has_product || !is_needed) continue;
      mlir::Value batch = batched(op->getResult(0));
      mlir::OpBuilder inside(op);
      mlir::Value row =
          row_of(inside, op->getLoc(), batch, rows_[op].at, type_of(op->getResult(0)));
      op->getResult(0).replaceAllUsesWith(row);
      changed = true;
    }
    return changed;
  }

 private:
  struct Row {
    DimExpr at;
    bool has_product = false;  // depends on a matrix product
  };

  // True if the slice is one whole row of x.
  static bool takes_row(SliceOp slice) {
    TensorType x = type_of(slice.getX());
    for (int64_t axis = 0; axis < x.getRank(); ++axis) {
      DimExpr size = slice.getSizes().getValue()[axis];
      if (slice.getSteps()[axis] != 1) return false;
      if (axis == 0 ? !size.is_constant(1)
                    : size != x.getDim(axis) || !slice.getStarts().getValue()[axis].is_constant(0))
        return false;
    }
    return true;
  }

  // True if each row of the batched op depends only on the same row of its operands.
  bool is_by_row(mlir::Operation* op) const {
    if (mlir::isa<ReshapeOp>(op)) return is_view(op);
    if (mlir::isa<ElementwiseOp>(op)) return true;
    auto matmul = mlir::dyn_cast<MatMulOp>(op);
    // B must have rank 2 and be loop-invariant, so that each row is multiplied with the same
    // matrix. A transposed A would mix the rows.
    return matmul && !matmul.getTransposeA() && type_of(matmul.getA()).getRank() >= 2 &&
           type_of(matmul.getB()).getRank() == 2 && is_outside(matmul.getB(), loop_);
  }

  void find_row(mlir::Operation* op) {
    if (auto slice = mlir::dyn_cast<SliceOp>(op)) {
      if (has_row_per_iteration(loop_, slice.getX()) && takes_row(slice) && is_view(slice) &&
          is_row_index(loop_, slice.getStarts().getValue().front()))
        rows_[op] = {slice.getStarts().getValue().front()};
      return;
    }
    if (!is_by_row(op) || is_constrained(op) || mentions(op, inner_) || !may_move_out(op, loop_))
      return;
    std::optional<Row> found;
    for (mlir::Value operand : op->getOperands()) {
      if (is_outside(operand, loop_)) continue;
      auto row = rows_.find(operand.getDefiningOp());
      // All operands must be rows at the same index. Row i of one tensor and row n - 1 - i of
      // another are not operands of one row of the batched op.
      if (row == rows_.end() || (found && found->at != row->second.at)) return;
      bool has_product = row->second.has_product || (found && found->has_product);
      found = Row{row->second.at, has_product};
    }
    if (!found) return;
    found->has_product = found->has_product || mlir::isa<MatMulOp>(op);
    rows_[op] = *found;
  }

  mlir::Value reshaped(mlir::Value x, llvm::ArrayRef<DimExpr> dims) {
    if (type_of(x).getShape() == dims) return x;
    return builder_.create<ReshapeOp>(x.getLoc(), type_of(x).withShape(dims), x,
                                      DimsAttr::get(builder_.getContext(), dims));
  }

  // The dims [trip count, 1..., row dims], with `rank` dims after the trip count.
  llvm::SmallVector<DimExpr> batched_dims(TensorType row, int64_t rank) {
    llvm::SmallVector<DimExpr> dims = {loop_.getTripCount().getValue().front()};
    // Broadcasting aligns dims at the end. The dims of size 1 are therefore inserted between the
    // trip count and the dims of the row.
    dims.append(static_cast<size_t>(rank - row.getRank()), DimExpr(1));
    dims.append(row.getShape().begin(), row.getShape().end());
    return dims;
  }

  // The tensor outside the loop whose row rows_[op].at is `value` in each iteration.
  mlir::Value batched(mlir::Value value) {
    mlir::Value& batch = batched_[value];
    if (batch) return batch;
    mlir::Operation* op = value.getDefiningOp();
    TensorType type = type_of(value);
    llvm::SmallVector<DimExpr> dims = batched_dims(type, type.getRank());
    mlir::Value made;
    if (auto slice = mlir::dyn_cast<SliceOp>(op))
      made = reshaped(slice.getX(), dims);
    else if (auto reshape = mlir::dyn_cast<ReshapeOp>(op))
      made = reshaped(batched(reshape.getX()), dims);
    else if (mlir::isa<MatMulOp>(op))
      made = reshaped(batched_product(op), dims);
    else
      made = batched_elementwise(op, dims);
    return batched_[value] = made;
  }

  mlir::Value batched_product(mlir::Operation* op) {
    mlir::Value a = op->getOperand(0);
    TensorType type = type_of(op->getResult(0));
    DimExpr depth = type_of(a).getDim(type_of(a).getRank() - 1);
    DimExpr rows = loop_.getTripCount().getValue().front();
    // The trip count and the leading dims of A become one dim. All iterations are then one product
    // with B of rank 2.
    for (DimExpr dim : type_of(a).getShape().drop_back()) rows = rows * dim;
    return clone(op, {reshaped(batched(a), {rows, depth}), op->getOperand(1)},
                 {rows, type.getDim(type.getRank() - 1)});
  }

  mlir::Value batched_elementwise(mlir::Operation* op, llvm::ArrayRef<DimExpr> dims) {
    llvm::SmallVector<mlir::Value> operands;
    for (mlir::Value operand : op->getOperands()) {
      if (is_outside(operand, loop_)) {
        operands.push_back(operand);
        continue;
      }
      auto rank = static_cast<int64_t>(dims.size()) - 1;
      operands.push_back(reshaped(batched(operand), batched_dims(type_of(operand), rank)));
    }
    return clone(op, operands, dims);
  }

  mlir::Value clone(mlir::Operation* op, llvm::ArrayRef<mlir::Value> operands,
                    llvm::ArrayRef<DimExpr> dims) {
    mlir::Operation* copy = builder_.clone(*op);
    copy->setOperands(operands);
    copy->getResult(0).setType(type_of(op->getResult(0)).withShape(dims));
    return copy->getResult(0);
  }

  LoopOp loop_;
  mlir::OpBuilder builder_;
  std::set<std::string> inner_;
  llvm::DenseMap<mlir::Operation*, Row> rows_;
  llvm::DenseMap<mlir::Value, mlir::Value> batched_;
};

bool hoist_from(LoopOp loop) {
  bool changed = drop_checks(loop);
  changed |= hoist_invariants(loop);
  changed |= slice_gathers(loop);
  // Each split separates the first layer of a recurrent model. The second loop is split again until
  // each layer has its own loop.
  while (std::optional<SplitLoop> split = split_loop(loop)) {
    RowHoister(split->first).run();
    loop = split->second;
    changed = true;
  }
  return RowHoister(loop).run() || changed;
}

}  // namespace

llvm::LogicalResult hoist(mlir::ModuleOp module) {
  bool changed = false;
  for (auto function : module.getOps<mlir::func::FuncOp>()) {
    if (function.isExternal()) continue;
    llvm::SmallVector<LoopOp> loops;  // innermost first
    function.walk([&](LoopOp loop) { loops.push_back(loop); });
    // A value that is hoisted from an inner loop may also be invariant in the outer loop.
    for (LoopOp loop : loops) changed |= hoist_from(loop);
    if (changed) remove_unused(function);
  }
  // Hoisted products leave reshapes of reshapes and dead ops.
  return changed ? simplify(module) : mlir::success();
}

}  // namespace scopevm::compiler::graph
