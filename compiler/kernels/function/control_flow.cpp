// Lowers sv.if and sv.loop to a flat list of steps between marks, and sv.read_dims to a step that
// begins a segment; see function_lowering.h.
//
// The results of an if are values that both branches write. A loop-carried value is one value of
// the function, which is written before the loop and again by each iteration. An iteration writes
// it in place if the old value has no later use. Otherwise the iteration writes a swap partner
// (double buffering), and its end swaps the two registers. If the shape can change, each iteration
// writes a new storage, and its end moves the value to that storage.
//
// A tensor is *open* if its type uses symbols that the if or loop defines. Its size is known only
// after a branch or iteration. Lists and closures are open as well.
#include "compiler/graph/diagnostics/op_name.h"
#include "compiler/graph/diagnostics/request_checks.h"
#include "compiler/graph/type_rule.h"
#include "compiler/kernels/function/function_lowering.h"

namespace scopevm::compiler::kernels {
namespace {

using graph::TensorType;

constexpr int64_t kNoLimit = int64_t{1} << 62;

// True if one of `symbols` has this name.
bool is_defined(llvm::ArrayRef<RuntimeSymbol> symbols, llvm::StringRef name) {
  return llvm::any_of(symbols,
                      [&](const RuntimeSymbol& defined) { return defined.symbol == name; });
}

Step move(ValueId from, ValueId to) {
  return {.operands = {from}, .results = {to}, .work = step::Move()};
}

// True if the step can write `next` over the current value: the value is exactly one operand of a
// launch that permits this.
template <typename IsCurrent>
bool may_write_in_place(const Step& step, ValueId next, IsCurrent is_current) {
  const auto* launch = step.as<step::Launch>();
  if (!launch || llvm::count_if(step.operands, is_current) != 1) return false;
  return llvm::any_of(launch->in_place, [&](const step::Launch::InPlace& permission) {
    return step.results[permission.result] == next && is_current(step.operands[permission.operand]);
  });
}

// Lists and closures are open, because an assignment moves a reference to them.
bool is_open(mlir::ArrayAttr symbols, mlir::Type type) {
  auto tensor = mlir::dyn_cast<TensorType>(type);
  return !tensor || llvm::any_of(tensor.getShape(),
                                 [&](DimExpr dim) { return graph::is_among(dim, symbols); });
}

}  // namespace

SegmentIndex FunctionLowering::new_segment(std::vector<RuntimeSymbol> symbols) {
  for (const RuntimeSymbol& defined : symbols)
    if (!defined_.insert(defined.symbol).second && status_.ok())
      status_ = Status(StatusCode::kInvalidModel, "\"" + op_name(current_) + "\": symbol " +
                                                      defined.symbol + " is defined twice");
  const SegmentIndex segment = function_.segments.next_index();
  function_.segments.push_back({std::move(symbols)});
  return segment;
}

int64_t FunctionLowering::push(Step step) {
  if (step.name.empty()) step.name = op_name(current_);
  check_defined(step);
  function_.steps.push_back(std::move(step));
  return static_cast<int64_t>(function_.steps.size()) - 1;
}

void FunctionLowering::push_read(std::vector<ValueId> operands,
                                 std::vector<RuntimeSymbol> symbols) {
  push({.operands = std::move(operands),
        .segment = new_segment(std::move(symbols)),
        .work = step::Read()});
}

// The results of the step can have these symbols in their dims, so push() requires that the symbols
// are defined first.
void FunctionLowering::push_and_read(Step step, std::vector<RuntimeSymbol> symbols) {
  std::vector<ValueId> results = step.results;
  std::optional<SegmentIndex> segment;
  if (!symbols.empty()) segment = new_segment(std::move(symbols));
  push(std::move(step));
  if (segment) push({.operands = std::move(results), .segment = segment, .work = step::Read()});
}

// Sets status_ to an error if the step uses a symbol of a segment that has not begun. The slots of
// such a symbol are not yet written.
void FunctionLowering::check_defined(const Step& step) {
  if (step.is<step::Launch, step::Call, step::CallClosure, step::StringWork, step::ListGet,
              step::ListInsert, step::ListErase>())
    for (ValueId result : step.results) check_defined(step.name, function_.values[result].shape);
  for (DimExpr expr : step.expressions()) check_defined(step.name, expr);
}

void FunctionLowering::check_defined(const std::string& name, llvm::ArrayRef<DimExpr> dims) {
  for (DimExpr dim : dims)
    for (const std::string& symbol : dim.symbols())
      if (symbol_kind(symbol) == SymbolKind::kRuntimeDefined && !defined_.contains(symbol) &&
          status_.ok())
        status_ = Status(StatusCode::kInvalidModel,
                         "\"" + name + "\" uses symbol " + symbol + " before its definition");
}

// Checks that the dims of results use no symbols that are defined only in the op's regions.
void FunctionLowering::check_results_defined(mlir::Operation* op) {
  for (mlir::Type type : op->getResultTypes())
    if (auto tensor = mlir::dyn_cast<TensorType>(type))
      check_defined(op_name(op), tensor.getShape());
}

// Appends to `symbols` each symbol of `names` that is a dim of `type`. `type` is the type of
// operand number `operand` of the step that defines the symbols. If several dims are the same
// symbol, the first one defines it.
void FunctionLowering::add_dim_symbols(mlir::ArrayAttr names, mlir::Type type, size_t operand,
                                       const std::string& what,
                                       std::vector<RuntimeSymbol>& symbols) const {
  auto tensor = mlir::dyn_cast<TensorType>(type);
  if (!tensor) return;
  llvm::ArrayRef<DimExpr> shape = tensor.getShape();
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    if (!graph::is_among(shape[axis], names)) continue;
    std::string symbol(shape[axis].symbol_name());
    if (is_defined(symbols, symbol)) continue;
    symbols.push_back({.symbol = symbol,
                       .source = RuntimeSymbol::Source::kDim,
                       .operand = static_cast<int>(operand),
                       .index = static_cast<int>(axis),
                       .what = what + " dim " + std::to_string(axis)});
  }
}

// --- Reads. -------------------------------------------------------------------------------------

llvm::LogicalResult FunctionLowering::lower(graph::ReadDimsOp op) {
  std::vector<RuntimeSymbol> symbols;
  std::string name = op_name(op);
  for (auto [i, symbol] : llvm::enumerate(op.getSymbols().getAsValueRange<mlir::StringAttr>())) {
    RuntimeSymbol element{.symbol = symbol.str(),
                          .source = RuntimeSymbol::Source::kElement,
                          .index = static_cast<int>(i),
                          .what = "\"" + name + "\" element " + std::to_string(i)};
    if (op.getIsSigned()) element.part = RuntimeSymbol::Part::kPositive;
    symbols.push_back(element);
    if (!op.getIsSigned()) continue;
    element.symbol += ".neg";
    // Symbols are never negative, so a signed element e is max(e, 0) - max(-e, 0).
    element.part = RuntimeSymbol::Part::kNegative;
    symbols.push_back(element);
  }
  push_read({value_of(op.getX())}, std::move(symbols));
  return mlir::success();
}

// --- If. ----------------------------------------------------------------------------------------

llvm::LogicalResult FunctionLowering::lower(graph::IfOp op) {
  Step begin{.operands = {value_of(op.getCondition())}, .work = step::If()};
  Step end;
  std::vector<bool> is_open;
  std::vector<RuntimeSymbol> symbols;
  for (mlir::Value result : op.getOutputs()) {
    is_open.push_back(kernels::is_open(op.getSymbols(), result.getType()));
    ValueId id = value_of(result);
    if (!is_open.back()) {
      begin.results.push_back(id);
      continue;
    }
    // The size of an open result is known only after the branch has run. Each branch therefore
    // allocates a storage, and moves it to the result.
    function_.values[id].storage = ValueStorage::kOwn;
    add_dim_symbols(op.getSymbols(), result.getType(), end.operands.size(),
                    "\"" + op_name(op) + "\"", symbols);
    end.operands.push_back(id);
  }
  const SegmentIndex outer = segment_;
  // The branch has its own segment, without symbols, for its request checks: they must not fail a
  // call that takes the other branch.
  begin.segment = segment_ = new_segment({});
  const int64_t at = push(std::move(begin));
  if (failed(lower_branch(op, op.getThen().front(), is_open))) return mlir::failure();
  segment_ = new_segment({});
  current_ = op;
  push({.segment = segment_, .work = step::Else{at}});
  if (failed(lower_branch(op, op.getOtherwise().front(), is_open))) return mlir::failure();
  segment_ = outer;
  current_ = op;
  end.work = step::EndIf{at};
  if (!symbols.empty()) end.segment = new_segment(std::move(symbols));
  push(std::move(end));
  check_results_defined(op);
  return mlir::success();
}

// Lowers a branch. Its steps write a yielded value directly to the storage of the result. If the
// result is open, the value is moved to the result instead.
llvm::LogicalResult FunctionLowering::lower_branch(graph::IfOp op, mlir::Block& block,
                                                   const std::vector<bool>& is_open) {
  const auto outer = defined_;
  mlir::OperandRange yielded = block.getTerminator()->getOperands();
  for (size_t i = 0; i < yielded.size(); ++i)
    // This precedes the lowering of the block, so that its steps write the result directly.
    // separate_results() has made the yielded values distinct.
    if (!is_open[i]) ids_[yielded[i]] = value_of(op.getOutputs()[i]);
  if (failed(lower_block(block))) return mlir::failure();
  current_ = op;
  for (size_t i = 0; i < yielded.size(); ++i) {
    if (!is_open[i]) continue;
    ValueId from = value_of(yielded[i]);
    function_.values[from].storage = ValueStorage::kOwn;
    push(move(from, value_of(op.getOutputs()[i])));
  }
  // Symbols of this branch are not defined in the other branch or after the if.
  defined_ = outer;
  return mlir::success();
}

// --- Loop. --------------------------------------------------------------------------------------

std::vector<FunctionLowering::Carried> FunctionLowering::begin_carried(graph::LoopOp op) {
  std::vector<Carried> carried;
  for (auto [argument, initial, result] :
       llvm::zip(op.getBody().getArguments(), op.getInitial(), op.getOutputs())) {
    Carried c{argument, value_of(initial),
              is_open(op.getCarriedSymbols(), argument.getType()) ||
                  is_open(op.getSymbols(), result.getType())};
    if (c.is_open) {
      function_.values[c.value].storage = ValueStorage::kOwn;
      ValueId current = add_value(op_name(op), argument.getType());
      function_.values[current].storage = ValueStorage::kOwn;
      push(move(c.value, current));
      c.value = current;
      // The result shares the register of the carried value. It is a view with its own type,
      // because its dims are those after the last iteration.
      ValueId view = add_value(op_name(op), result.getType());
      function_.values[view].origin = ValueOrigin::kView;
      function_.values[view].view_of = current;
      ids_[result] = view;
    } else {
      ids_[result] = c.value;
    }
    ids_[argument] = c.value;
    carried.push_back(c);
  }
  return carried;
}

// Adds the gathered results to the step `loop`. In the body, the gathered value is a part of the
// result, at the offset of the iteration.
void FunctionLowering::begin_gathered(graph::LoopOp op, Step& loop) {
  mlir::OperandRange yielded = op.getBody().front().getTerminator()->getOperands();
  size_t first = op.getHasCondition() ? 1 : 0;
  for (size_t i = op.getInitial().size(); i < op.getNumResults(); ++i) {
    ValueId whole = value_of(op.getOutputs()[i]);
    if (is_open(op.getSymbols(), op.getOutputs()[i].getType()))
      function_.values[whole].storage = ValueStorage::kDynamic;
    loop.results.push_back(whole);
    ValueId part = add_value(op_name(op), yielded[first + i].getType());
    Value& value = function_.values[part];
    value.origin = ValueOrigin::kPart;
    value.view_of = whole;
    // All parts have the same size, so the part of iteration i begins at i times this size.
    value.offset = DimExpr::symbol(op.getIndex().str()) * value.bytes();
    // This precedes the lowering of the body, so that the step that computes the value writes it to
    // the part.
    ids_[yielded[first + i]] = part;
  }
}

llvm::LogicalResult FunctionLowering::lower(graph::LoopOp op) {
  llvm::ArrayRef<DimExpr> trip_count = op.getTripCount().getValue();
  std::vector<Carried> carried = begin_carried(op);
  // Without a trip count only the condition ends the loop.
  Step loop{.work = step::Loop{trip_count.empty() ? DimExpr(kNoLimit) : trip_count.front()}};
  std::vector<RuntimeSymbol> symbols = {{.symbol = op.getIndex().str(),
                                         .source = RuntimeSymbol::Source::kCount,
                                         .what = "\"" + op_name(op) + "\" iteration"}};
  for (const Carried& c : carried) {
    if (c.is_open)
      add_dim_symbols(op.getCarriedSymbols(), c.argument.getType(), loop.operands.size(),
                      "\"" + op_name(op) + "\"", symbols);
    loop.operands.push_back(c.value);
  }
  const SegmentIndex outer = segment_;
  const auto outer_defined = defined_;
  loop.segment = segment_ = new_segment(std::move(symbols));
  begin_gathered(op, loop);
  const int64_t begin = push(std::move(loop));
  if (failed(lower_block(op.getBody().front()))) return mlir::failure();
  current_ = op;
  end_carried(op, carried, begin);
  segment_ = outer;
  defined_ = outer_defined;
  end_loop(op, carried, begin);
  check_results_defined(op);
  return mlir::success();
}

namespace {

template <typename Carried>
bool is_carried(const std::vector<Carried>& carried, ValueId id) {
  return llvm::any_of(carried, [&](const Carried& c) { return c.value == id; });
}

}  // namespace

void FunctionLowering::end_carried(graph::LoopOp op, const std::vector<Carried>& carried,
                                   int64_t begin) {
  mlir::OperandRange yielded = op.getBody().front().getTerminator()->getOperands();
  size_t first = op.getHasCondition() ? 1 : 0;
  std::vector<Step> ends;
  for (size_t i = 0; i < carried.size(); ++i) {
    const Carried& c = carried[i];
    if (yielded[first + i] == c.argument) continue;
    ValueId next = value_of(yielded[first + i]);
    if (c.is_open) {
      function_.values[next].storage = ValueStorage::kOwn;
      // The body can yield carried lists in another order. A carried list is therefore moved to a
      // temporary first, so that no move overwrites a list before it is moved.
      if (function_.values[next].is_list() && next != c.value && is_carried(carried, next)) {
        ValueId temporary = add_value(op_name(op), c.argument.getType());
        push(move(next, temporary));
        next = temporary;
      }
      // The moves and swaps are appended after this loop: each of them changes a value that a later
      // yielded value can still refer to.
      ends.push_back(move(next, c.value));
    } else if (!take_over(next, c.value, begin)) {
      function_.values[next].swap_partner = c.value;
      function_.steps[begin].results.push_back(next);
      ends.push_back({.operands = {c.value, next}, .work = step::Swap()});
    }
  }
  for (Step& end : ends) push(std::move(end));
}

// Tries to replace `next` by `current`, so that the iteration writes the carried value in place.
// Returns false, without effect, in three cases: no step of the body writes `next`, a step needs
// the old value after `next` is written, or another yielded value has already replaced `current`.
bool FunctionLowering::take_over(ValueId next, ValueId current, int64_t begin) {
  auto is_current = [&](ValueId id) { return root_of(function_, id) == current; };
  const Step* writer = nullptr;  // the first step that writes `next`
  for (auto at = static_cast<size_t>(begin) + 1; at < function_.steps.size(); ++at) {
    const Step& step = function_.steps[at];
    // The If step of an sv.if has its results, so it is their writer here. Reads in its branches
    // are in later steps.
    const bool reads_current = llvm::any_of(step.operands, is_current);
    if (writer && reads_current) return false;
    // Another yielded value has replaced `current`.
    if (llvm::any_of(step.results, is_current)) return false;
    if (writer || !llvm::is_contained(step.results, next)) continue;
    writer = &step;
    if (reads_current && !may_write_in_place(step, next, is_current)) return false;
  }
  if (!writer) return false;
  replace_value(next, current, begin);
  return true;
}

void FunctionLowering::replace_value(ValueId from, ValueId to, int64_t begin) {
  for (size_t at = static_cast<size_t>(begin); at < function_.steps.size(); ++at) {
    for (ValueId& operand : function_.steps[at].operands)
      if (operand == from) operand = to;
    for (ValueId& result : function_.steps[at].results)
      if (result == from) result = to;
  }
  for (Value& value : function_.values)
    if (value.view_of == from) value.view_of = to;
  for (auto& [value, id] : ids_)
    if (id == from) id = to;
}

void FunctionLowering::end_loop(graph::LoopOp op, const std::vector<Carried>& carried,
                                int64_t begin) {
  Step end{.work = step::EndLoop{begin, op.getHasCondition()}};
  if (op.getHasCondition())
    end.operands.push_back(value_of(op.getBody().front().getTerminator()->getOperand(0)));
  std::vector<RuntimeSymbol> symbols;
  for (size_t i = 0; i < op.getNumResults(); ++i) {
    mlir::Type type = op.getOutputs()[i].getType();
    if (i < carried.size()) {
      add_dim_symbols(op.getSymbols(), type, end.operands.size(), "\"" + op_name(op) + "\"",
                      symbols);
      end.operands.push_back(carried[i].value);
      continue;
    }
    DimExpr count = mlir::cast<TensorType>(type).getDim(0);
    if (!graph::is_among(count, op.getSymbols())) continue;
    std::string symbol(count.symbol_name());
    if (!is_defined(symbols, symbol))
      symbols.push_back({.symbol = symbol,
                         .source = RuntimeSymbol::Source::kCount,
                         .what = "\"" + op_name(op) + "\" iterations"});
  }
  if (!symbols.empty()) end.segment = new_segment(std::move(symbols));
  push(std::move(end));
}

}  // namespace scopevm::compiler::kernels
