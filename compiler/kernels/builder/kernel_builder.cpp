// KernelBuilder: signature, loops and the walk over work items. Memory access is in access.cpp.
#include "compiler/kernels/builder/kernel_builder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace scopevm::compiler::kernels::movement {
namespace {

// A task of a launch should move at least this many bytes: about 3 us of memory traffic, some times
// the cost of handing a task to another thread.
constexpr int64_t kTaskBytes = 32768;

llvm::SmallVector<mlir::Value> values_of(llvm::ArrayRef<Val> vals) {
  return {vals.begin(), vals.end()};
}

Vals vals_of(mlir::ImplicitLocOpBuilder& builder, mlir::ValueRange values) {
  Vals vals;
  for (mlir::Value value : values) vals.push_back({&builder, value});
  return vals;
}

}  // namespace

llvm::ArrayRef<DimExpr> shape_of(mlir::Value value) {
  return mlir::cast<graph::TensorType>(value.getType()).getShape();
}

DType dtype_of(mlir::Value value) {
  return mlir::cast<graph::TensorType>(value.getType()).getDtype();
}

Dims row_major_strides(llvm::ArrayRef<DimExpr> shape) {
  Dims strides(shape.size(), 1);
  for (size_t d = shape.size(); d-- > 1;) strides[d - 1] = strides[d] * shape[d];
  return strides;
}

DimExpr product(llvm::ArrayRef<DimExpr> shape, size_t from, size_t to) {
  return element_count({shape.data() + from, to - from});
}

DimExpr count_items(llvm::ArrayRef<Axis> axes) {
  DimExpr items = 1;
  for (const Axis& axis : axes) items = items * axis.size;
  return items;
}

void simplify(llvm::SmallVector<Axis>& axes) {
  llvm::SmallVector<Axis> kept;
  auto runs_through = [](const Axis& outer, const Axis& inner) {
    for (size_t c = 0; c < outer.strides.size(); ++c)
      if (!(outer.strides[c] == inner.strides[c] * inner.size)) return false;
    return true;
  };
  for (Axis& axis : axes) {
    if (axis.size.is_constant(1)) continue;
    if (!kept.empty() && runs_through(kept.back(), axis)) {
      axis.size = axis.size * kept.back().size;
      kept.pop_back();
    }
    kept.push_back(axis);
  }
  axes = std::move(kept);
}

KernelBuilder::KernelBuilder(LoweringContext& context, mlir::Operation* op, llvm::StringRef kind)
    : context_(context), kind_(kind), builder_(op->getLoc(), context.kernels().context()) {
  builder_.setInsertionPointToEnd(context.kernels().module().getBody());
  mlir::Type index = builder_.getIndexType();
  function_ = builder_.create<mlir::func::FuncOp>(
      "building", builder_.getFunctionType({index, index, index}, {}));
  entry_ = function_.addEntryBlock();
  builder_.setInsertionPointToStart(entry_);
}

const Target& KernelBuilder::target() const { return context_.kernels().target(); }

Buffer KernelBuilder::add_buffer(unsigned position, DType dtype, Elements elements) {
  mlir::Type element = elements == Elements::kNumbers
                           ? storage_type(builder_.getContext(), dtype)
                           : builder_.getIntegerType(static_cast<unsigned>(byte_size(dtype)) * 8);
  auto type = mlir::MemRefType::get({mlir::ShapedType::kDynamic}, element);
  return {entry_->insertArgument(position, type, builder_.getLoc()), dtype};
}

Buffer KernelBuilder::operand(ValueId value, DType dtype, Elements elements) {
  step_.operands.push_back(value);
  return add_buffer(static_cast<unsigned>(step_.operands.size()) - 1, dtype, elements);
}

Buffer KernelBuilder::operand(mlir::Value value, Elements elements) {
  return operand(context_.value_of(value), dtype_of(value), elements);
}

Buffer KernelBuilder::result(ValueId value, DType dtype, Elements elements) {
  step_.results.push_back(value);
  size_t buffers = step_.operands.size() + step_.results.size();
  return add_buffer(static_cast<unsigned>(buffers) - 1, dtype, elements);
}

Buffer KernelBuilder::result(mlir::Value value, Elements elements) {
  return result(context_.value_of(value), dtype_of(value), elements);
}

Val KernelBuilder::param(DimExpr value) {
  step_.params.push_back(value);
  unsigned position = entry_->getNumArguments() - 3;
  return {&builder_, entry_->insertArgument(position, builder_.getIndexType(), builder_.getLoc())};
}

Val KernelBuilder::stride(DimExpr value) { return value.is_constant(0) ? index(0) : param(value); }

Val KernelBuilder::index(int64_t value) {
  return {&builder_, builder_.create<mlir::arith::ConstantIndexOp>(value)};
}

Val KernelBuilder::begin() {
  return {&builder_, entry_->getArgument(entry_->getNumArguments() - 3)};
}
Val KernelBuilder::end() { return {&builder_, entry_->getArgument(entry_->getNumArguments() - 2)}; }

void KernelBuilder::loop(Val low, Val high, int64_t step, llvm::function_ref<void(Val)> body) {
  loop(low, high, step, {}, [&](Val i, llvm::ArrayRef<Val>) {
    body(i);
    return Vals{};
  });
}

Vals KernelBuilder::loop(Val low, Val high, int64_t step, llvm::ArrayRef<Val> initial,
                         llvm::function_ref<Vals(Val, llvm::ArrayRef<Val>)> body) {
  auto op = builder_.create<mlir::scf::ForOp>(low, high, index(step), values_of(initial));
  mlir::OpBuilder::InsertionGuard guard(builder_);
  builder_.setInsertionPointToStart(op.getBody());
  Vals next = body({&builder_, op.getInductionVar()}, vals_of(builder_, op.getRegionIterArgs()));
  if (!next.empty()) builder_.create<mlir::scf::YieldOp>(values_of(next));
  return vals_of(builder_, op.getResults());
}

Vals KernelBuilder::loop_while(llvm::ArrayRef<Val> initial,
                               llvm::function_ref<Val(llvm::ArrayRef<Val>)> condition,
                               llvm::function_ref<Vals(llvm::ArrayRef<Val>)> body) {
  llvm::SmallVector<mlir::Value> values = values_of(initial);
  mlir::TypeRange types = mlir::ValueRange(values).getTypes();
  auto op = builder_.create<mlir::scf::WhileOp>(types, values);
  llvm::SmallVector<mlir::Location> locations(values.size(), builder_.getLoc());
  mlir::OpBuilder::InsertionGuard guard(builder_);
  mlir::Block* before = builder_.createBlock(&op.getBefore(), {}, types, locations);
  Val goes_on = condition(vals_of(builder_, before->getArguments()));
  builder_.create<mlir::scf::ConditionOp>(goes_on, before->getArguments());
  mlir::Block* after = builder_.createBlock(&op.getAfter(), {}, types, locations);
  Vals next = body(vals_of(builder_, after->getArguments()));
  builder_.create<mlir::scf::YieldOp>(values_of(next));
  return vals_of(builder_, op.getResults());
}

void KernelBuilder::when(Val condition, llvm::function_ref<void()> then,
                         llvm::function_ref<void()> otherwise) {
  auto op = builder_.create<mlir::scf::IfOp>(condition, static_cast<bool>(otherwise));
  mlir::OpBuilder::InsertionGuard guard(builder_);
  builder_.setInsertionPointToStart(op.thenBlock());
  then();
  if (!otherwise) return;
  builder_.setInsertionPointToStart(op.elseBlock());
  otherwise();
}

void KernelBuilder::choose(Val selector, int64_t count, llvm::function_ref<void(int64_t)> cases) {
  if (count == 1) return cases(0);
  llvm::SmallVector<int64_t> values;
  for (int64_t i = 0; i + 1 < count; ++i) values.push_back(i);
  auto op =
      builder_.create<mlir::scf::IndexSwitchOp>(mlir::TypeRange(), selector, values, values.size());
  mlir::OpBuilder::InsertionGuard guard(builder_);
  for (int64_t i = 0; i < count; ++i) {
    bool is_last = i + 1 == count;  // the last case is the default
    builder_.createBlock(is_last ? &op.getDefaultRegion() : &op.getCaseRegions()[i]);
    cases(i);
    builder_.create<mlir::scf::YieldOp>();
  }
}

void KernelBuilder::walk(Val low, Val high, llvm::ArrayRef<Axis> axes,
                         llvm::ArrayRef<DimExpr> bases, Visit visit) {
  const size_t rank = axes.size(), columns = bases.size();
  Vals sizes, state(rank + columns);
  for (const Axis& axis : axes) sizes.push_back(param(axis.size));
  llvm::SmallVector<Vals> strides(rank), advances(rank);
  for (size_t d = 0; d < rank; ++d)
    for (size_t c = 0; c < columns; ++c) strides[d].push_back(stride(axes[d].strides[c]));
  // Splits `low` over the axes. Sizes may be 0 when there are no items at all.
  Val rest = low;
  for (size_t d = rank; d-- > 0;) {
    Val size = max(sizes[d], index(1));
    state[d] = d == 0 ? rest : remainder(rest, size);
    if (d > 0) rest = quotient(rest, size);
  }
  for (size_t c = 0; c < columns; ++c) {
    state[rank + c] = stride(bases[c]);
    for (size_t d = 0; d < rank; ++d) state[rank + c] = state[rank + c] + state[d] * strides[d][c];
  }
  // advances[d][c]: what offset c gains when axis d steps and every axis after it starts over.
  for (size_t d = 0; d < rank; ++d)
    for (size_t c = 0; c < columns; ++c) {
      Val gain = strides[d][c];
      for (size_t e = d + 1; e < rank; ++e) gain = gain - (sizes[e] - 1) * strides[e][c];
      advances[d].push_back(gain);
    }
  loop(low, high, 1, state, [&](Val, llvm::ArrayRef<Val> now) {
    visit(now.take_front(rank), now.drop_front(rank));
    if (rank == 0) return Vals(now);
    Vals next(now), gain = advances[rank - 1];
    Val steps(&builder_, builder_.create<mlir::arith::ConstantIntOp>(1, 1));
    for (size_t d = rank; d-- > 0;) {
      Val plus = now[d] + 1;
      for (size_t c = 0; c < columns; ++c) gain[c] = select(steps, advances[d][c], gain[c]);
      Val wraps = plus == sizes[d];
      next[d] = select(steps, d == 0 ? plus : select(wraps, index(0), plus), now[d]);
      steps = steps && wraps;
    }
    for (size_t c = 0; c < columns; ++c) next[rank + c] = now[rank + c] + gain[c];
    return next;
  });
}

void KernelBuilder::for_items(llvm::ArrayRef<Axis> axes, llvm::ArrayRef<DimExpr> bases,
                              Visit visit) {
  walk(begin(), end(), axes, bases, visit);
}

llvm::LogicalResult KernelBuilder::launch(DimExpr grid, DimExpr item_cost) {
  builder_.setInsertionPointToEnd(entry_);
  builder_.create<mlir::func::ReturnOp>();
  function_.setFunctionType(builder_.getFunctionType(entry_->getArgumentTypes(), {}));
  int buffers = static_cast<int>(step_.operands.size() + step_.results.size());
  step_.kernel =
      context_.kernels().intern(function_, kind_, buffers, static_cast<int>(step_.params.size()));
  step_.grid = grid;
  step_.grain = max(DimExpr(1), floordiv(kTaskBytes, max(DimExpr(1), item_cost)));
  context_.launch(std::move(step_));
  return mlir::success();
}

}  // namespace scopevm::compiler::kernels::movement
