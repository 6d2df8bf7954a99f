// Translates expressions to a straight-line program by value numbering.
#include "compiler/shapes/shape_program.h"

#include <algorithm>
#include <set>

#include "compiler/dims/dim_text.h"

namespace scopevm::compiler {
namespace {

std::string place_of(const Value& value, size_t axis) {
  return "\"" + value.name + "\" dim " + std::to_string(axis);
}

}  // namespace

// A value belongs to the latest segment of its operands, and reads operands of earlier segments
// from their slots.
ShapeProgram::ValueIndex ShapeProgram::instruction(Instruction i) {
  if (i.has_operands()) {
    i.segment = std::max(instructions_[i.a].segment, instructions_[i.b].segment);
    for (ValueIndex operand : {i.a, i.b})
      if (instructions_[operand].segment < i.segment) slot_from_earlier(operand);
  }
  auto [entry, is_new] =
      numbered_.try_emplace({i.op, i.immediate, i.a, i.b}, instructions_.next_index());
  if (is_new) instructions_.push_back(i);
  return entry->second;
}

ShapeProgram::ValueIndex ShapeProgram::constant(int64_t value) {
  return instruction({Op::kConstant, value});
}

ShapeProgram::ValueIndex ShapeProgram::add(ValueIndex a, ValueIndex b) {
  auto x = constant_of(a), y = constant_of(b);
  int64_t sum;
  if (x && y && !__builtin_add_overflow(*x, *y, &sum)) return constant(sum);
  if (x == 0) return b;
  if (y == 0) return a;
  // Commutative operands are sorted, so that a + b and b + a have one value number.
  return instruction({Op::kAdd, 0, std::min(a, b), std::max(a, b)});
}

ShapeProgram::ValueIndex ShapeProgram::multiply(ValueIndex a, ValueIndex b) {
  auto x = constant_of(a), y = constant_of(b);
  int64_t product;
  if (x && y && !__builtin_mul_overflow(*x, *y, &product)) return constant(product);
  if (x == 0 || y == 1) return a;
  if (y == 0 || x == 1) return b;
  return instruction({Op::kMul, 0, std::min(a, b), std::max(a, b)});
}

ShapeProgram::ValueIndex ShapeProgram::min(ValueIndex a, ValueIndex b) {
  auto x = constant_of(a), y = constant_of(b);
  if (x && y) return constant(std::min(*x, *y));
  if (a == b) return a;
  return instruction({Op::kMin, 0, std::min(a, b), std::max(a, b)});
}

ShapeProgram::ValueIndex ShapeProgram::max(ValueIndex a, ValueIndex b) {
  auto x = constant_of(a), y = constant_of(b);
  if (x && y) return constant(std::max(*x, *y));
  if (a == b) return a;
  return instruction({Op::kMax, 0, std::min(a, b), std::max(a, b)});
}

std::optional<int64_t> ShapeProgram::constant_of(ValueIndex value) const {
  const Instruction& i = instructions_[value];
  return i.op == Op::kConstant ? std::optional(i.immediate) : std::nullopt;
}

ShapeProgram::ValueIndex ShapeProgram::value(DimExpr expr) {
  if (auto found = exprs_.find(expr); found != exprs_.end()) return found->second;
  ValueIndex result;
  if (auto literal = expr.as_constant()) {
    result = constant(*literal);
  } else if (expr.kind() == DimExpr::Kind::kSymbol) {
    result = expr.symbol_name() == kThreadsSymbol ? instruction({Op::kThreads})
                                                  : symbols_.find(expr.symbol_name())->second.value;
  } else {
    const Op op = static_cast<Op>(static_cast<int>(Op::kAdd) + static_cast<int>(expr.op()));
    const auto operands = expr.operands();
    result = value(operands.front());
    for (DimExpr operand : operands | std::views::drop(1)) {
      ValueIndex next = value(operand);
      result = op == Op::kAdd ? add(result, next) : instruction({op, 0, result, next});
    }
  }
  exprs_.emplace(expr, result);
  return result;
}

SlotIndex ShapeProgram::slot_of(ValueIndex value) {
  auto [entry, is_new] = slots_.try_emplace(value, stores_.next_index());
  if (is_new) stores_.push_back(value);
  return entry->second;
}

std::optional<SlotIndex> ShapeProgram::find_slot(ValueIndex value) const {
  auto found = slots_.find(value);
  return found == slots_.end() ? std::nullopt : std::optional(found->second);
}

DimExpr ShapeProgram::runtime_value(SlotIndex slot) const {
  DimExpr sum = 0;
  for (const auto& [symbol, sign] : runtime_values_.at(slot))
    sum = sum + DimExpr(sign) * DimExpr::symbol(symbol);
  return sum;
}

SlotIndex ShapeProgram::new_slot() {
  const SlotIndex slot = stores_.next_index();
  stores_.emplace_back();
  return slot;
}

// Gives a value of an earlier segment a slot. Constants and the thread count need none, because
// they are available in every segment.
void ShapeProgram::slot_from_earlier(ValueIndex value) {
  Op op = instructions_[value].op;
  if (op != Op::kConstant && op != Op::kThreads) slot_of(value);
}

SlotIndex ShapeProgram::block_of(const std::vector<ValueIndex>& values) {
  auto [entry, is_new] = blocks_.try_emplace(values, stores_.next_index());
  // A block needs consecutive slots, so values that have slots already are stored a second time.
  if (is_new) stores_.insert(stores_.end(), values.begin(), values.end());
  return entry->second;
}

void ShapeProgram::condition(Check::Kind kind, ValueIndex lhs, ValueIndex rhs, std::string message,
                             SegmentIndex segment) {
  // A check cannot run before its operands are known.
  segment = std::max({segment, instructions_[lhs].segment, instructions_[rhs].segment});
  conditions_.push_back({kind, lhs, rhs, slot_of(lhs), slot_of(rhs), segment, std::move(message)});
}

SegmentIndex ShapeProgram::segment_of(DimExpr expr) const {
  SegmentIndex segment;
  for (const std::string& symbol : expr.symbols())
    if (auto found = symbols_.find(symbol); found != symbols_.end())
      segment = std::max(segment, found->second.segment);
  return segment;
}

std::vector<const ShapeProgram::Condition*> ShapeProgram::conditions_of(
    SegmentIndex segment) const {
  std::vector<const Condition*> found;
  for (const Condition& condition : conditions_)
    if (condition.segment == segment) found.push_back(&condition);
  return found;
}

Result<ShapeProgram> ShapeProgram::create(const Function& function) {
  ShapeProgram program;
  program.bind_inputs(function);
  program.take_instruction_slots(function);
  program.bind_symbols(function);
  SCOPEVM_RETURN_IF_ERROR(program.require_bound(function));
  // A call reports the first failed condition, so conditions are added in the order of importance.
  // A wrong input explains the failures of all later checks.
  program.check_inputs(function);
  for (const Dimension& dimension : function.dimensions) program.check_dimension(dimension);
  for (const Check& check : function.checks) {
    program.condition(check.kind, program.value(check.lhs), program.value(check.rhs), check.message,
                      check.segment);
    for (DimExpr more : check.more)
      program.conditions_.back().more_slots.push_back(program.slot_of(program.value(more)));
  }
  program.check_results(function);
  return program;
}

void ShapeProgram::bind_inputs(const Function& function) {
  for (ValueId id : function.inputs) {
    const Value& input = function.values[id];
    if (input.is_list()) continue;
    for (size_t axis = 0; axis < input.shape.size(); ++axis) {
      DimExpr dim = input.shape[axis];
      ValueIndex actual = instruction({Op::kInputDim, static_cast<int64_t>(dims_.size())});
      dims_.push_back(dim);
      if (dim.kind() == DimExpr::Kind::kSymbol)
        symbols_.try_emplace(std::string(dim.symbol_name()),
                             Binding{actual, "input " + place_of(input, axis)});
    }
  }
}

// Takes the slots that instructions write. They precede all others, so that the verifier can keep
// instructions from changing what a shape function has computed.
void ShapeProgram::take_instruction_slots(const Function& function) {
  symbol_slots_.resize(function.segments.size());
  for (SegmentIndex segment : function.segments.indices()) {
    // Several symbols may be derived from one value.
    std::map<std::tuple<RuntimeSymbol::Source, int, int>, SlotIndex> slots;
    for (const RuntimeSymbol& defined : function.segments[segment].symbols) {
      auto [entry, is_new] = slots.try_emplace({defined.source, defined.operand, defined.index});
      if (is_new) entry->second = new_slot();
      symbol_slots_[segment].push_back(entry->second);
    }
  }
  const bool has_condition = std::ranges::any_of(function.steps, [](const Step& step) {
    const auto* end = step.as<step::EndLoop>();
    return step.is<step::If, step::Assert>() || (end && end->has_condition);
  });
  if (has_condition) condition_slot_ = new_slot();
  first_slot_ = stores_.next_index();
}

void ShapeProgram::bind_symbols(const Function& function) {
  for (SegmentIndex segment : function.segments.indices()) {
    const std::vector<RuntimeSymbol>& symbols = function.segments[segment].symbols;
    for (size_t i = 0; i < symbols.size(); ++i) {
      const RuntimeSymbol& defined = symbols[i];
      const SlotIndex slot = symbol_slots_[segment][i];
      ValueIndex whole =
          instruction({.op = Op::kRuntime, .immediate = int64_t{slot.value}, .segment = segment});
      runtime_values_[slot].emplace_back(defined.symbol,
                                         defined.part == RuntimeSymbol::Part::kNegative ? -1 : 1);
      symbols_.try_emplace(defined.symbol,
                           Binding{part_of(whole, defined, segment), defined.what, segment});
    }
  }
}

ShapeProgram::ValueIndex ShapeProgram::value_in_call(const ShapeProgram& callee, ValueIndex value,
                                                     std::span<const ValueIndex> dims) {
  // Operands precede the values computed from them. Only `value` and its transitive operands are
  // imported.
  IndexedVector<ValueIndex, bool> is_needed(value.value + size_t{1});
  is_needed[value] = true;
  for (ValueIndex at : is_needed.indices() | std::views::reverse)
    if (const Instruction& i = callee.instructions_[at]; is_needed[at] && i.has_operands())
      is_needed[i.a] = is_needed[i.b] = true;
  IndexedVector<ValueIndex, ValueIndex> taken(is_needed.size());
  for (ValueIndex at : is_needed.indices()) {
    if (!is_needed[at]) continue;
    Instruction i = callee.instructions_[at];
    if (i.has_operands()) {
      i.a = taken[i.a];
      i.b = taken[i.b];
    }
    taken[at] = i.op == Op::kInputDim ? dims[static_cast<size_t>(i.immediate)]
                : i.op == Op::kAdd    ? add(i.a, i.b)
                : i.op == Op::kMax    ? max(i.a, i.b)
                                      : instruction(i);
  }
  return taken[value];
}

ShapeProgram::ValueIndex ShapeProgram::part_of(ValueIndex value, const RuntimeSymbol& symbol,
                                               SegmentIndex segment) {
  switch (symbol.part) {
    case RuntimeSymbol::Part::kPositive:
      // A value of unknown sign is the difference of two non-negative symbols, so that expressions
      // over it keep the rule that symbols are non-negative.
      return instruction({Op::kMax, 0, constant(0), value});
    case RuntimeSymbol::Part::kNegative:
      return instruction(
          {Op::kMax, 0, constant(0), instruction({Op::kMul, 0, constant(-1), value})});
    case RuntimeSymbol::Part::kWhole:
      // Sizes of tensors and lists and counts are negative only in a manipulated module. A check
      // would keep segments that have no other work.
      if (symbol.source != RuntimeSymbol::Source::kElement) return max(constant(0), value);
      condition(Check::Kind::kAtLeast, value, constant(0), symbol.what + " is {0}, below {1}",
                segment);
      return value;
  }
  return value;
}

// Checks that every symbol in the function's expressions is bound.
Status ShapeProgram::require_bound(const Function& function) const {
  std::set<DimExpr> seen;
  std::string unbound;
  auto is_bound = [&](DimExpr expr) {
    if (!seen.insert(expr).second) return true;
    for (const std::string& symbol : expr.symbols())
      if (symbol != kThreadsSymbol && !symbols_.contains(symbol)) unbound = symbol;
    return unbound.empty();
  };
  auto fail = [&](const std::string& what) {
    return Status(StatusCode::kUnsupported, what + " depends on symbol \"" + unbound +
                                                "\", which no input dimension defines");
  };
  for (const Value& value : function.values) {
    for (size_t axis = 0; axis < value.shape.size(); ++axis)
      if (!is_bound(value.shape[axis])) return fail(place_of(value, axis));
    if (!is_bound(value.offset)) return fail("\"" + value.name + "\"");
  }
  for (const Dimension& dimension : function.dimensions)
    if (!is_bound(DimExpr::symbol(dimension.name))) return fail("the function");
  for (const Check& check : function.checks)
    if (!is_bound(check.lhs) || !is_bound(check.rhs) || !std::ranges::all_of(check.more, is_bound))
      return fail("a check");
  for (const Step& step : function.steps) {
    if (!std::ranges::all_of(step.expressions(), is_bound)) return fail("\"" + step.name + "\"");
  }
  return {};
}

void ShapeProgram::check_inputs(const Function& function) {
  int64_t index = 0;
  for (ValueId id : function.inputs) {
    const Value& input = function.values[id];
    if (input.is_list()) continue;
    for (size_t axis = 0; axis < input.shape.size(); ++axis, ++index) {
      DimExpr dim = input.shape[axis];
      ValueIndex actual = instruction({Op::kInputDim, index});
      std::string where = "input " + place_of(input, axis);
      std::string message = where + " is {0}, expected {1}";
      if (dim.kind() == DimExpr::Kind::kSymbol) {
        // The first input dim that is a bare symbol binds it. Every other one must be equal.
        const Binding& binding = symbols_.find(dim.symbol_name())->second;
        if (binding.value == actual) continue;
        message = where + " is {0}, but " + dim.str() + " is {1} (from " + binding.where + ")";
      }
      condition(Check::Kind::kEqual, actual, value(dim), message);
      if (dim.kind() != DimExpr::Kind::kSymbol && !dim.is_constant())
        add_symbols(dim, conditions_.back());
    }
  }
}

// Appends the symbols of the expression and their values: ` (2*n with n = {2} from input "x" dim
// 0)`.
void ShapeProgram::add_symbols(DimExpr dim, Condition& condition) {
  condition.message += " (" + short_text(dim);
  for (const std::string& symbol : dim.symbols()) {
    const Binding& binding = symbols_.find(symbol)->second;
    condition.more_slots.push_back(slot_of(binding.value));
    size_t mark = condition.more_slots.size() + 1;
    condition.message += (mark == 2 ? " with " : ", ") + symbol + " = {" + std::to_string(mark) +
                         "} from " + binding.where;
  }
  condition.message += ")";
}

void ShapeProgram::check_dimension(const Dimension& dimension) {
  for (Check& check : dimension.bounds_checks(DimExpr::symbol(dimension.name)))
    condition(check.kind, value(check.lhs), value(check.rhs), std::move(check.message));
}

// Checks that dims are not negative, unless the graph has such a check. The graph has none for
// tensors between two launches of one op.
void ShapeProgram::check_results(const Function& function) {
  std::set<DimExpr> seen;
  for (const Check& check : function.checks)
    // The graph's own check has a better message.
    if (check.kind == Check::Kind::kAtLeast && check.rhs == DimExpr(0)) seen.insert(check.lhs);
  for (const Value& value : function.values)
    for (size_t axis = 0; !value.is_list() && axis < value.shape.size(); ++axis) {
      DimExpr dim = value.shape[axis];
      if (value.origin == ValueOrigin::kInput || is_never_negative(dim)) continue;
      if (seen.insert(dim).second)
        condition(Check::Kind::kAtLeast, this->value(dim), constant(0),
                  place_of(value, axis) + " is {0}, expected at least 0: an input is too small",
                  value.segment);
    }
}

}  // namespace scopevm::compiler
