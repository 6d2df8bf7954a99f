// sv.if, sv.loop and sv.read_dims -> flat steps between marks: see function_lowering.h.
//
// The results of an if are values that both branches write. What a loop carries is one value: the
// loop's start writes it, and each iteration writes it again, in place where nothing reads the old
// one any more, else into a twin whose register the iteration's end swaps with its own. A value
// whose shape changes has a storage of its own in each iteration, and only its name moves.
#include "compiler/graph/diagnostics/op_name.h"
#include "compiler/graph/diagnostics/request_checks.h"
#include "compiler/kernels/function/function_lowering.h"

namespace scopevm::compiler::kernels {
namespace {

using graph::TensorType;

constexpr int64_t kNoLimit = int64_t{1} << 62;

bool contains(mlir::ArrayAttr symbols, DimExpr dim) {
  return dim.kind() == DimExpr::Kind::kSymbol &&
         llvm::is_contained(symbols.getAsValueRange<mlir::StringAttr>(),
                            llvm::StringRef(dim.symbol_name()));
}

// What is no tensor is open too: only its name moves.
bool is_open(mlir::ArrayAttr symbols, mlir::Type type) {
  auto tensor = mlir::dyn_cast<TensorType>(type);
  return !tensor ||
         llvm::any_of(tensor.getShape(), [&](DimExpr dim) { return contains(symbols, dim); });
}

}  // namespace

int FunctionLowering::new_stage(std::vector<Birth> births) {
  for (const Birth& birth : births)
    if (!born_.insert(birth.symbol).second && status_.is_ok())
      status_ = Status(StatusCode::kInvalidModel,
                       "\"" + op_name(current_) + "\": symbol " + birth.symbol + " is born twice");
  function_.stages.push_back({std::move(births)});
  return static_cast<int>(function_.stages.size()) - 1;
}

int FunctionLowering::push(Step step) {
  if (step.name.empty()) step.name = op_name(current_);
  if (step.kind == StepKind::kLaunch || step.kind == StepKind::kCall ||
      step.kind == StepKind::kCallClosure || step.kind == StepKind::kText || step.index)
    check_born(step);
  function_.steps.push_back(std::move(step));
  return static_cast<int>(function_.steps.size()) - 1;
}

// A step that runs before the stage of one of its symbols would find nothing in its slots.
void FunctionLowering::check_born(const Step& step) {
  for (ValueId result : step.results) check_born(step.name, function_.values[result].shape);
  check_born(step.name, step.params);
  if (step.index) check_born(step.name, *step.index);
}

void FunctionLowering::check_born(const std::string& name, llvm::ArrayRef<DimExpr> dims) {
  for (DimExpr dim : dims)
    for (const std::string& symbol : dim.symbols())
      if (symbol.front() == '$' && symbol != kThreadsSymbol && !born_.contains(symbol) &&
          status_.is_ok())
        status_ = Status(StatusCode::kInvalidModel,
                         "\"" + name + "\" uses " + symbol + ", which is not known there");
}

// What a region bears, results need under a name that is known behind it.
void FunctionLowering::check_results_born(mlir::Operation* op) {
  for (mlir::Type type : op->getResultTypes())
    if (auto tensor = mlir::dyn_cast<TensorType>(type)) check_born(op_name(op), tensor.getShape());
}

ValueId FunctionLowering::root_of(ValueId id) const {
  while (function_.values[id].view_of >= 0) id = function_.values[id].view_of;
  return id;
}

// Dims of `type` that are among `symbols`, each born where it is met first.
void FunctionLowering::add_dim_births(mlir::ArrayAttr symbols, mlir::Type type, int operand,
                                      const std::string& what, std::vector<Birth>& births) const {
  auto tensor = mlir::dyn_cast<TensorType>(type);
  if (!tensor) return;
  llvm::ArrayRef<DimExpr> shape = tensor.getShape();
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    if (!contains(symbols, shape[axis])) continue;
    std::string symbol(shape[axis].symbol_name());
    if (llvm::any_of(births, [&](const Birth& birth) { return birth.symbol == symbol; })) continue;
    births.push_back({symbol, Birth::Source::kDim, operand, static_cast<int>(axis),
                      Birth::Part::kWhole, what + " dim " + std::to_string(axis)});
  }
}

// --- Reads. -------------------------------------------------------------------------------------

llvm::LogicalResult FunctionLowering::lower(graph::ReadDimsOp op) {
  std::vector<Birth> births;
  std::string name = op_name(op);
  for (auto [i, symbol] : llvm::enumerate(op.getSymbols().getAsValueRange<mlir::StringAttr>())) {
    std::string what = "\"" + name + "\" element " + std::to_string(i);
    Birth birth{symbol.str(),
                Birth::Source::kElement,
                0,
                static_cast<int>(i),
                op.getIsSigned() ? Birth::Part::kPositive : Birth::Part::kWhole,
                what};
    births.push_back(birth);
    if (!op.getIsSigned()) continue;
    birth.symbol += ".neg";
    birth.part = Birth::Part::kNegative;
    births.push_back(birth);
  }
  Step step{.kind = StepKind::kRead, .operands = {value_of(op.getX())}};
  step.stage = new_stage(std::move(births));
  push(std::move(step));
  return mlir::success();
}

// --- If. ----------------------------------------------------------------------------------------

llvm::LogicalResult FunctionLowering::lower(graph::IfOp op) {
  Step begin{.kind = StepKind::kIf, .operands = {value_of(op.getCondition())}};
  Step end{.kind = StepKind::kEndIf};
  std::vector<bool> is_open;
  std::vector<Birth> births;
  for (mlir::Value result : op.getOutputs()) {
    is_open.push_back(kernels::is_open(op.getSymbols(), result.getType()));
    ValueId id = value_of(result);
    if (!is_open.back()) {
      begin.results.push_back(id);
      continue;
    }
    function_.values[id].storage = ValueStorage::kOwn;
    add_dim_births(op.getSymbols(), result.getType(), static_cast<int>(end.operands.size()),
                   "\"" + op_name(op) + "\"", births);
    end.operands.push_back(id);
  }
  int outer = scope_;
  scope_ = begin.stage = new_stage({});
  int at = push(std::move(begin));
  if (failed(lower_branch(op, op.getThen().front(), is_open))) return mlir::failure();
  Step otherwise{.kind = StepKind::kElse, .match = at};
  scope_ = otherwise.stage = new_stage({});
  current_ = op;
  push(std::move(otherwise));
  if (failed(lower_branch(op, op.getOtherwise().front(), is_open))) return mlir::failure();
  scope_ = outer;
  current_ = op;
  end.match = at;
  if (!births.empty()) end.stage = new_stage(std::move(births));
  push(std::move(end));
  check_results_born(op);
  return mlir::success();
}

// What the branch yields is written where the result lies, or the result takes its name.
llvm::LogicalResult FunctionLowering::lower_branch(graph::IfOp op, mlir::Block& block,
                                                   const std::vector<bool>& is_open) {
  const auto outer = born_;
  mlir::OperandRange yielded = block.getTerminator()->getOperands();
  for (size_t i = 0; i < yielded.size(); ++i)
    if (!is_open[i]) ids_[yielded[i]] = value_of(op.getOutputs()[i]);
  if (failed(lower_block(block))) return mlir::failure();
  current_ = op;
  for (size_t i = 0; i < yielded.size(); ++i) {
    if (!is_open[i]) continue;
    ValueId from = value_of(yielded[i]);
    function_.values[from].storage = ValueStorage::kOwn;
    push({.kind = StepKind::kMove, .operands = {from}, .results = {value_of(op.getOutputs()[i])}});
  }
  born_ = outer;
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
      push({.kind = StepKind::kMove, .operands = {c.value}, .results = {current}});
      c.value = current;
      ValueId shown = add_value(op_name(op), result.getType());
      function_.values[shown].origin = ValueOrigin::kView;
      function_.values[shown].view_of = current;
      ids_[result] = shown;
    } else {
      ids_[result] = c.value;
    }
    ids_[argument] = c.value;
    carried.push_back(c);
  }
  return carried;
}

// Each iteration writes its part of a result that the loop makes, at the iteration's place.
void FunctionLowering::begin_gathered(graph::LoopOp op, Step& loop) {
  mlir::OperandRange yielded = op.getBody().front().getTerminator()->getOperands();
  size_t first = op.getHasCondition() ? 1 : 0;
  for (size_t i = op.getInitial().size(); i < op.getNumResults(); ++i) {
    ValueId whole = value_of(op.getOutputs()[i]);
    if (is_open(op.getSymbols(), op.getOutputs()[i].getType()))
      function_.values[whole].storage = ValueStorage::kGrowing;
    loop.results.push_back(whole);
    ValueId part = add_value(op_name(op), yielded[first + i].getType());
    Value& value = function_.values[part];
    value.origin = ValueOrigin::kPart;
    value.view_of = whole;
    value.offset = DimExpr::symbol(op.getIndex().str()) * value.bytes();
    ids_[yielded[first + i]] = part;
  }
}

llvm::LogicalResult FunctionLowering::lower(graph::LoopOp op) {
  llvm::ArrayRef<DimExpr> trip_count = op.getTripCount().getValue();
  std::vector<Carried> carried = begin_carried(op);
  Step loop{.kind = StepKind::kLoop};
  loop.trip_count = trip_count.empty() ? DimExpr(kNoLimit) : trip_count.front();
  std::vector<Birth> births = {{op.getIndex().str(), Birth::Source::kCount, 0, 0,
                                Birth::Part::kWhole, "\"" + op_name(op) + "\" iteration"}};
  for (const Carried& c : carried) {
    if (c.is_open)
      add_dim_births(op.getCarriedSymbols(), c.argument.getType(),
                     static_cast<int>(loop.operands.size()), "\"" + op_name(op) + "\"", births);
    loop.operands.push_back(c.value);
  }
  int outer = scope_;
  const auto outer_born = born_;
  scope_ = loop.stage = new_stage(std::move(births));
  begin_gathered(op, loop);
  int begin = push(std::move(loop));
  if (failed(lower_block(op.getBody().front()))) return mlir::failure();
  current_ = op;
  end_carried(op, carried, begin);
  scope_ = outer;
  born_ = outer_born;
  end_loop(op, carried, begin);
  check_results_born(op);
  return mlir::success();
}

namespace {

template <typename Carried>
bool is_carried(const std::vector<Carried>& carried, ValueId id) {
  return llvm::any_of(carried, [&](const Carried& c) { return c.value == id; });
}

}  // namespace

void FunctionLowering::end_carried(graph::LoopOp op, const std::vector<Carried>& carried,
                                   int begin) {
  mlir::OperandRange yielded = op.getBody().front().getTerminator()->getOperands();
  size_t first = op.getHasCondition() ? 1 : 0;
  std::vector<Step> ends;
  for (size_t i = 0; i < carried.size(); ++i) {
    const Carried& c = carried[i];
    if (yielded[first + i] == c.argument) continue;
    ValueId next = value_of(yielded[first + i]);
    if (c.is_open) {
      function_.values[next].storage = ValueStorage::kOwn;
      // Lists may change places among those that are carried.
      if (function_.values[next].is_list() && next != c.value && is_carried(carried, next)) {
        ValueId apart = add_value(op_name(op), c.argument.getType());
        push({.kind = StepKind::kMove, .operands = {next}, .results = {apart}});
        next = apart;
      }
      ends.push_back({.kind = StepKind::kMove, .operands = {next}, .results = {c.value}});
    } else if (!take_over(next, c.value, begin)) {
      function_.values[next].twin = c.value;
      function_.steps[begin].results.push_back(next);
      ends.push_back({.kind = StepKind::kSwap, .operands = {c.value, next}});
    }
  }
  for (Step& end : ends) push(std::move(end));
}

// `next` is written where `current` lies, if nothing reads `current` after that.
bool FunctionLowering::take_over(ValueId next, ValueId current, int begin) {
  int written = -1, read = -1;
  for (int at = begin + 1; at < static_cast<int>(function_.steps.size()); ++at) {
    const Step& step = function_.steps[at];
    if (written < 0 && llvm::is_contained(step.results, next)) written = at;
    for (ValueId operand : step.operands)
      if (root_of(operand) == current) read = at;
    for (ValueId result : step.results)
      if (root_of(result) == current) return false;  // another yield took it over
  }
  if (written < 0 || read > written) return false;
  if (read == written) {
    const Step& step = function_.steps[written];
    auto is_current = [&](ValueId operand) { return root_of(operand) == current; };
    bool is_allowed = llvm::any_of(step.in_place, [&](const Step::InPlace& permission) {
      return step.results[permission.result] == next &&
             is_current(step.operands[permission.operand]);
    });
    if (!is_allowed || llvm::count_if(step.operands, is_current) != 1) return false;
  }
  rename(next, current, begin);
  return true;
}

void FunctionLowering::rename(ValueId from, ValueId to, int begin) {
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

void FunctionLowering::end_loop(graph::LoopOp op, const std::vector<Carried>& carried, int begin) {
  Step end{.kind = StepKind::kEndLoop, .match = begin};
  if (op.getHasCondition()) {
    end.has_condition = true;
    end.operands.push_back(value_of(op.getBody().front().getTerminator()->getOperand(0)));
  }
  std::vector<Birth> births;
  for (size_t i = 0; i < op.getNumResults(); ++i) {
    mlir::Type type = op.getOutputs()[i].getType();
    if (i < carried.size()) {
      add_dim_births(op.getSymbols(), type, static_cast<int>(end.operands.size()),
                     "\"" + op_name(op) + "\"", births);
      end.operands.push_back(carried[i].value);
      continue;
    }
    DimExpr count = mlir::cast<TensorType>(type).getDim(0);
    if (!contains(op.getSymbols(), count)) continue;
    std::string symbol(count.symbol_name());
    if (llvm::none_of(births, [&](const Birth& birth) { return birth.symbol == symbol; }))
      births.push_back({symbol, Birth::Source::kCount, 0, 0, Birth::Part::kWhole,
                        "\"" + op_name(op) + "\" iterations"});
  }
  if (!births.empty()) end.stage = new_stage(std::move(births));
  push(std::move(end));
}

}  // namespace scopevm::compiler::kernels
