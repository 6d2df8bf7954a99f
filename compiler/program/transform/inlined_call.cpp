// Copies the body of a callee into its caller; see the header.
#include "compiler/program/transform/inlined_call.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <ranges>
#include <set>
#include <string>

namespace scopevm::compiler::transform {
namespace {

using Symbols = std::map<std::string, DimExpr, std::less<>>;  // replacements

DimExpr replaced(DimExpr expr, const Symbols& symbols) {
  return expr.substitute([&](std::string_view name) -> std::optional<DimExpr> {
    const auto found = symbols.find(name);
    return found == symbols.end() ? std::nullopt : std::optional(found->second);
  });
}

void replace_in(Value& value, const Symbols& symbols) {
  for (DimExpr& dim : value.shape) dim = replaced(dim, symbols);
  value.offset = replaced(value.offset, symbols);
}

void replace_in(Step& step, const Symbols& symbols) {
  step.replace_expressions([&](DimExpr expr) { return replaced(expr, symbols); });
}

void replace_in(Check& check, const Symbols& symbols) {
  check.lhs = replaced(check.lhs, symbols);
  check.rhs = replaced(check.rhs, symbols);
  for (DimExpr& more : check.more) more = replaced(more, symbols);
}

// The segment of the innermost block that is open before step `at`.
SegmentIndex block_segment(const Function& function, int64_t at) {
  std::vector<SegmentIndex> open = {SegmentIndex{0}};
  for (const Step& step : function.steps | std::views::take(at)) {
    if (step.is<step::Else, step::EndIf, step::EndLoop>()) open.pop_back();
    if (step.is<step::If, step::Else, step::Loop>()) open.push_back(*step.segment);
  }
  return open.back();
}

// One call, while its callee's body is copied into the caller.
class InlinedCall {
 public:
  InlinedCall(Function& caller, int64_t at, const Function& callee, std::vector<ValueId> operands,
              int& next_name)
      : caller_(caller),
        at_(at),
        callee_(callee),
        operands_(std::move(operands)),
        call_(caller.steps[at]),
        segment_(block_segment(caller, at)),
        values_(callee.values.size()),
        segments_(callee.segments.size(), segment_),
        next_name_(next_name) {}

  void run() {
    bind_parameters();
    bind_runtime_symbols();
    replace_result_symbols();
    add_segments();
    add_values();
    add_checks();
    add_steps();
  }

 private:
  const Value& callee_output(size_t i) const { return callee_.values[callee_.outputs[i]]; }

  // Replaces each symbol of the parameters by the dim of the argument at the symbol's first
  // occurrence.
  void bind_parameters() {
    for (size_t i = 0; i < operands_.size(); ++i) {
      values_[callee_.inputs[i]] = operands_[i];
      const Value &given = caller_.values[operands_[i]], &taken = callee_.values[callee_.inputs[i]];
      if (given.is_list()) continue;
      for (size_t axis = 0; axis < taken.shape.size(); ++axis)
        if (taken.shape[axis].kind() == DimExpr::Kind::kSymbol &&
            symbols_.try_emplace(std::string(taken.shape[axis].symbol_name()), given.shape[axis])
                .second)
          sources_[std::string(taken.shape[axis].symbol_name())] = place_of(taken, axis);
    }
  }

  static std::string place_of(const Value& parameter, size_t axis) {
    return "input \"" + parameter.name + "\" dim " + std::to_string(axis);
  }

  // Replaces each runtime-defined symbol of the callee. If the symbol is a dim of a result, and the
  // Read after the call defines a symbol for this dim, that symbol replaces it. Otherwise a symbol
  // with a new name does.
  void bind_runtime_symbols() {
    for (size_t i = 0; i < call_.results.size(); ++i) {
      const Value &result = caller_.values[call_.results[i]], &output = callee_output(i);
      if (result.is_list()) continue;
      for (size_t axis = 0; axis < output.shape.size(); ++axis)
        if (is_runtime_symbol(output.shape[axis]) && is_own_symbol(result.shape[axis]) &&
            symbols_.try_emplace(std::string(output.shape[axis].symbol_name()), result.shape[axis])
                .second)
          named_.insert(std::string(result.shape[axis].symbol_name()));
    }
    std::map<std::string, DimFacts> facts;
    for (const Segment& segment : callee_.segments)
      for (const RuntimeSymbol& defined : segment.symbols)
        if (!symbols_.contains(defined.symbol)) {
          if (facts.empty()) facts = facts_of_callee();
          symbols_.emplace(defined.symbol,
                           DimExpr::symbol(defined.symbol + "." + std::to_string(next_name_++),
                                           facts[defined.symbol]));
        }
  }

  bool is_runtime_symbol(DimExpr dim) const {
    return dim.kind() == DimExpr::Kind::kSymbol &&
           std::ranges::any_of(callee_.segments, [&](const Segment& segment) {
             return std::ranges::find(segment.symbols, dim.symbol_name(), &RuntimeSymbol::symbol) !=
                    segment.symbols.end();
           });
  }

  // Whether the step after the call is the Read of the results' dims that the caller cannot
  // compute.
  bool has_read() const {
    const size_t next = static_cast<size_t>(at_) + 1;
    return next < caller_.steps.size() && caller_.steps[next].is<step::Read>() &&
           caller_.steps[next].operands == call_.results &&
           std::ranges::all_of(
               caller_.segments[*caller_.steps[next].segment].symbols,
               [](const RuntimeSymbol& defined) {
                 return defined.source == RuntimeSymbol::Source::kDim;
               });
  }

  // True for a symbol that the read after the call defines.
  bool is_own_symbol(DimExpr dim) const {
    if (dim.kind() != DimExpr::Kind::kSymbol || !has_read()) return false;
    const auto& symbols = caller_.segments[*caller_.steps[at_ + 1].segment].symbols;
    return std::ranges::find(symbols, dim.symbol_name(), &RuntimeSymbol::symbol) != symbols.end();
  }

  // The facts of the callee's symbols, by name. A renamed symbol must keep its facts.
  std::map<std::string, DimFacts> facts_of_callee() const {
    std::map<std::string, DimFacts> facts;
    std::set<DimExpr> seen;
    const auto visit = [&](DimExpr expr, auto& visit) -> void {
      if (!seen.insert(expr).second) return;
      if (expr.kind() == DimExpr::Kind::kSymbol)
        facts.try_emplace(std::string(expr.symbol_name()), expr.facts());
      for (DimExpr operand : expr.operands()) visit(operand, visit);
    };
    for (const Value& value : callee_.values)
      for (DimExpr dim : value.shape) visit(dim, visit);
    for (const Step& step : callee_.steps)
      for (DimExpr expr : step.expressions()) visit(expr, visit);
    for (const Check& check : callee_.checks) {
      visit(check.lhs, visit);
      visit(check.rhs, visit);
      for (DimExpr more : check.more) visit(more, visit);
    }
    return facts;
  }

  // Removes the Read after the call, and replaces the symbols that it defines by dims of the
  // callee's results.
  void replace_result_symbols() {
    if (!has_read()) return;
    Symbols dims;
    for (size_t i = 0; i < call_.results.size(); ++i) {
      const Value &result = caller_.values[call_.results[i]], &output = callee_output(i);
      if (result.is_list()) continue;
      for (size_t axis = 0; axis < output.shape.size(); ++axis)
        if (is_own_symbol(result.shape[axis]) && !named_.contains(result.shape[axis].symbol_name()))
          dims.try_emplace(std::string(result.shape[axis].symbol_name()),
                           replaced(output.shape[axis], symbols_));
    }
    splice(caller_, at_ + 1, 1, {});
    if (dims.empty()) return;
    for (Value& value : caller_.values) replace_in(value, dims);
    for (Step& step : caller_.steps) replace_in(step, dims);
    for (Check& check : caller_.checks) replace_in(check, dims);
  }

  void add_segments() {
    for (SegmentIndex index : callee_.segments.indices() | std::views::drop(1)) {
      segments_[index] = caller_.segments.next_index();
      Segment segment = callee_.segments[index];
      for (RuntimeSymbol& defined : segment.symbols)
        defined.symbol = std::string(symbols_.find(defined.symbol)->second.symbol_name());
      caller_.segments.push_back(std::move(segment));
    }
  }

  void add_values() {
    // A result that the callee computes is written directly to the caller's value.
    for (size_t i = 0; i < call_.results.size(); ++i)
      if (std::optional<ValueId>& own = values_[callee_.outputs[i]];
          !own && callee_output(i).origin == ValueOrigin::kStep)
        own = call_.results[i];
    for (ValueId id : callee_.values.indices()) {
      if (callee_.values[id].origin == ValueOrigin::kInput) continue;
      if (!values_[id]) {
        values_[id] = caller_.values.next_index();
        caller_.values.push_back(copy_of(id));
        continue;
      }
      Value& result = caller_.values[*values_[id]];
      Value copy = copy_of(id);
      copy.name = std::move(result.name);
      if (result.is_scope_required) copy.place = result.place;
      copy.is_scope_required |= result.is_scope_required;
      result = std::move(copy);
    }
    for (ValueId id : callee_.values.indices()) {
      Value& value = caller_.values[*values_[id]];
      if (callee_.values[id].origin == ValueOrigin::kInput) continue;
      if (value.view_of) value.view_of = values_[*value.view_of];
      if (value.swap_partner) value.swap_partner = values_[*value.swap_partner];
    }
  }

  Value copy_of(ValueId id) const {
    Value value = callee_.values[id];
    replace_in(value, symbols_);
    value.segment = segments_[value.segment];
    return value;
  }

  void add_checks() {
    for (Check check : callee_.checks) {
      replace_in(check, symbols_);
      check.segment = segments_[check.segment];
      add_check(std::move(check));
    }
    for (const Dimension& dimension : callee_.dimensions) {
      const DimExpr dim = symbols_.find(dimension.name)->second;
      if (is_within(dim, dimension)) continue;
      for (Check& check : dimension.bounds_checks(dim)) add_own_check(std::move(check));
    }
    for (size_t i = 0; i < operands_.size(); ++i)
      if (const Value& given = caller_.values[operands_[i]]; !given.is_list())
        check_dims(given, callee_.values[callee_.inputs[i]]);
  }

  void check_dims(const Value& given, const Value& taken) {
    for (size_t axis = 0; axis < taken.shape.size(); ++axis) {
      const DimExpr dim = replaced(taken.shape[axis], symbols_);
      if (dim == given.shape[axis]) continue;
      Check check{.lhs = given.shape[axis],
                  .rhs = dim,
                  .message = place_of(taken, axis) + " is {0}, expected {1}"};
      if (taken.shape[axis].kind() == DimExpr::Kind::kSymbol) {
        const std::string symbol(taken.shape[axis].symbol_name());
        check.message = place_of(taken, axis) + " is {0}, but " + symbol + " is {1} (from " +
                        sources_.at(symbol) + ")";
      }
      add_own_check(std::move(check));
    }
  }

  // Adds a check of the arguments.
  void add_own_check(Check check) {
    check.segment = segment_;
    add_check(std::move(check));
  }

  // The message starts with the chain of calls. Several calls at equal dims share their checks.
  void add_check(Check check) {
    const bool has_chain = check.message.starts_with(callee_.name + " > ");
    check.message = caller_.name + " > " + (has_chain ? "" : callee_.name + ": ") + check.message;
    if (std::ranges::none_of(caller_.checks, [&](const Check& known) {
          return known.kind == check.kind && known.lhs == check.lhs && known.rhs == check.rhs &&
                 known.segment == check.segment;
        }))
      caller_.checks.push_back(std::move(check));
  }

  // True if `dim` is known to be within the bounds. Either its interval and factor prove this, or
  // it is a dimension of the caller with the same or narrower bounds.
  bool is_within(DimExpr dim, const Dimension& bounds) const {
    const DimInterval interval = interval_of(dim);
    if (interval.min >= bounds.min && interval.max <= bounds.max &&
        known_factor(dim) % bounds.multiple_of == 0)
      return true;
    return std::ranges::any_of(caller_.dimensions, [&](const Dimension& own) {
      return dim.kind() == DimExpr::Kind::kSymbol && own.name == dim.symbol_name() &&
             own.min >= bounds.min && own.max <= bounds.max &&
             own.multiple_of % bounds.multiple_of == 0;
    });
  }

  void add_steps() {
    std::vector<Step> steps;
    for (Step step : callee_.steps) {
      for (ValueId& id : step.operands) id = *values_[id];
      for (ValueId& id : step.results) id = *values_[id];
      if (step.segment) step.segment = segments_[*step.segment];
      if (step.begin()) step.set_begin(*step.begin() + at_);
      replace_in(step, symbols_);
      steps.push_back(std::move(step));
    }
    for (size_t i = 0; i < call_.results.size(); ++i) {
      const ValueId from = *values_[callee_.outputs[i]], to = call_.results[i];
      if (from == to) continue;
      Value& result = caller_.values[to];
      if (result.is_list()) {
        Step move{.name = call_.name, .operands = {from}, .results = {to}, .work = step::Move()};
        steps.push_back(std::move(move));
        continue;
      }
      result.shape = caller_.values[from].shape;
      result.place = caller_.values[from].place;
      result.origin = ValueOrigin::kView;
      result.view_of = from;
      result.storage = ValueStorage::kPlanned;
    }
    splice(caller_, at_, 1, std::move(steps));
  }

  Function& caller_;
  const int64_t at_;
  const Function& callee_;
  const std::vector<ValueId> operands_;
  const Step call_;
  const SegmentIndex segment_;                  // of the block of the call
  Symbols symbols_;                             // the callee's symbols in the caller
  std::map<std::string, std::string> sources_;  // of parameters' symbols: `input "x" dim 0`
  std::set<std::string, std::less<>> named_;    // the caller's symbols that replace callee symbols
  IndexedVector<ValueId, std::optional<ValueId>> values_;  // the callee's values in the caller
  IndexedVector<SegmentIndex, SegmentIndex> segments_;
  int& next_name_;
};

}  // namespace

void splice(Function& function, int64_t at, int64_t count, std::vector<Step> steps) {
  const int64_t shift = static_cast<int64_t>(steps.size()) - count;
  const auto first = function.steps.begin() + at;
  for (auto step = first + count; step != function.steps.end(); ++step)
    if (const std::optional<int64_t> begin = step->begin(); begin && *begin > at)
      step->set_begin(*begin + shift);
  const auto rest = function.steps.erase(first, first + count);
  function.steps.insert(rest, std::make_move_iterator(steps.begin()),
                        std::make_move_iterator(steps.end()));
}

void inline_call(Function& caller, int64_t at, const Function& callee,
                 std::vector<ValueId> operands, int& next_name) {
  InlinedCall(caller, at, callee, std::move(operands), next_name).run();
}

}  // namespace scopevm::compiler::transform
