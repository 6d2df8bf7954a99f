// Callees' memory formulas -> formulas over the caller's dims; see the header.
#include "compiler/bytecode/call_memory.h"

#include <algorithm>
#include <set>

namespace scopevm::bytecode {
namespace {

using ValueIndex = ShapeProgram::ValueIndex;

// Longer formulas are not for people any more.
constexpr size_t kLongestFormula = 400;

std::vector<std::set<int>> callees_of_all(const Program& program) {
  std::vector<std::set<int>> callees(program.functions.size());
  for (size_t f = 0; f < callees.size(); ++f)
    for (const Step& step : program.functions[f].steps)
      if (step.callee >= 0) callees[f].insert(step.callee);
  // Through others as well.
  for (bool has_grown = true; has_grown;) {
    has_grown = false;
    for (std::set<int>& known : callees) {
      const std::set<int> direct = known;
      for (int callee : direct) known.insert(callees[callee].begin(), callees[callee].end());
      has_grown = has_grown || known.size() > direct.size();
    }
  }
  return callees;
}

// Everything that a function needs while it runs, in its own shape program.
CallBytes total(const CallBytes& own, const CallBytes& calls, ShapeProgram& shapes) {
  CallBytes sum = {shapes.add(own.most, calls.most), shapes.add(own.lower_bound, calls.lower_bound),
                   std::nullopt};
  if (own.formula && calls.formula) sum.formula = *own.formula + *calls.formula;
  return sum;
}

class CallMemoryFinder {
 public:
  CallMemoryFinder(const Program& program, std::vector<PlannedFunction>& planned)
      : program_(program),
        planned_(planned),
        callees_(callees_of_all(program)),
        memory_(planned.size()),
        is_known_(planned.size(), false) {}

  std::vector<CallMemory> run() {
    for (size_t f = 0; f < planned_.size(); ++f) find(static_cast<int>(f));
    return std::move(memory_);
  }

 private:
  bool is_recursive(int function) const { return callees_[function].contains(function); }

  void find(int f) {
    if (is_known_[f]) return;
    is_known_[f] = true;
    const Function& function = program_.functions[f];
    const std::vector<int64_t> releases = memory::release_steps(function);
    const std::vector<int> outputs = memory::output_of_root(function);
    const ValueIndex zero = planned_[f].shapes.constant(0);
    CallMemory memory{.workspace = {zero, zero}, .results = {zero, zero}};
    for (size_t at = 0; at < function.steps.size(); ++at) {
      const Step& step = function.steps[at];
      if (step.kind == StepKind::kMakeClosure || step.kind == StepKind::kCallClosure)
        add_open(memory, {"closures"});
      if (step.kind != StepKind::kCall) continue;
      add_call(f, step, kept_at(f, static_cast<int64_t>(at), releases, outputs), memory);
    }
    memory_[f] = std::move(memory);
  }

  // What the function keeps of calls' results at a step, where the dims decide it.
  CallBytes kept_at(int f, int64_t at, const std::vector<int64_t>& releases,
                    const std::vector<int>& outputs) {
    const Function& function = program_.functions[f];
    DimExpr bytes = 0;
    for (int64_t before = 0; before <= at; ++before)
      for (ValueId result : function.steps[before].results)
        if (function.steps[before].kind == StepKind::kCall && outputs[result] < 0 &&
            !function.values[result].is_list() && (before == at || releases[result] >= at) &&
            !depends_on_data(function, function.values[result].bytes()))
          bytes = bytes + function.values[result].bytes();
    ValueIndex value = planned_[f].shapes.value(bytes);
    return {value, value, bytes};
  }

  void add_call(int f, const Step& step, const CallBytes& kept, CallMemory& memory) {
    const int callee = step.callee;
    CallMemory needed{.results = kept};
    needed.workspace.most = needed.workspace.lower_bound = planned_[f].shapes.constant(0);
    bool is_known = !is_recursive(callee);
    if (is_known) {
      find(callee);
      is_known = memory_[callee].open.empty() && !needs_by_data(callee);
      needed.workspace = in_call(f, step, workspace_of(callee));
      needed.results = total(kept, in_call(f, step, memory_[callee].results), planned_[f].shapes);
    }
    bool has_early_dims = is_early(f, needed.workspace) && is_early(f, needed.results);
    if (has_early_dims) {
      raise(f, memory.workspace, needed.workspace);
      raise(f, memory.results, needed.results);
    } else {
      raise(f, memory.results, kept);
    }
    if (!is_known || !has_early_dims)
      add_open(memory, {"calls of " + program_.functions[callee].name, is_recursive(callee)});
  }

  static void add_open(CallMemory& memory, CallMemory::Open open) {
    if (std::ranges::find(memory.open, open.what, &CallMemory::Open::what) == memory.open.end())
      memory.open.push_back(std::move(open));
  }

  bool is_early(int f, const CallBytes& bytes) const {
    return planned_[f].shapes.stage_of(bytes.most) == 0;
  }

  void raise(int f, CallBytes& most, const CallBytes& by) {
    ShapeProgram& shapes = planned_[f].shapes;
    most.most = shapes.max(most.most, by.most);
    most.lower_bound = shapes.max(most.lower_bound, by.lower_bound);
    if (most.formula && by.formula) most.formula = max(*most.formula, *by.formula);
    if (!by.formula || most.formula->str().size() > kLongestFormula) most.formula.reset();
  }

  CallBytes workspace_of(int f) {
    const memory::Plan& plan = planned_[f].plan;
    CallBytes own{plan.workspace().height, plan.workspace().lower_bound, plan.height_formula()};
    return total(own, memory_[f].workspace, planned_[f].shapes);
  }

  // Stages, and values with a storage of their own, as add_memory_by_data lists them.
  bool needs_by_data(int f) const {
    const Function& function = program_.functions[f];
    for (size_t stage = 1; stage < function.stages.size(); ++stage)
      if (!planned_[f].plan.arenas[stage].buffers.empty()) return true;
    const std::vector<int> outputs = memory::output_of_root(function);
    return std::ranges::any_of(function.steps, [&](const Step& step) {
      return std::ranges::any_of(step.results, [&](ValueId id) {
        return outputs[id] < 0 && is_made_by_data(function, step, id);
      });
    });
  }

  // The callee's bytes in the caller's terms.
  CallBytes in_call(int f, const Step& step, const CallBytes& bytes) {
    const Function& caller = program_.functions[f];
    const Function& callee = program_.functions[step.callee];
    ShapeProgram& shapes = planned_[f].shapes;
    std::vector<ValueIndex> dims;
    std::map<std::string, DimExpr, std::less<>> names;
    for (size_t i = 0; i < step.operands.size(); ++i) {
      const Value& argument = caller.values[step.operands[i]];
      if (argument.is_list()) continue;
      for (size_t axis = 0; axis < argument.shape.size(); ++axis) {
        DimExpr dim = argument.shape[axis];
        DimExpr parameter = callee.values[callee.inputs[i]].shape[axis];
        dims.push_back(shapes.value(dim));
        if (parameter.kind() == DimExpr::Kind::kSymbol)
          names.try_emplace(std::string(parameter.symbol_name()), dim);
      }
    }
    const ShapeProgram& of = planned_[step.callee].shapes;
    CallBytes result{shapes.value_in_call(of, bytes.most, dims),
                     shapes.value_in_call(of, bytes.lower_bound, dims), std::nullopt};
    if (bytes.formula)
      result.formula = bytes.formula->substitute([&](std::string_view name) {
        auto bound = names.find(name);
        return bound == names.end() ? std::nullopt : std::optional(bound->second);
      });
    return result;
  }

  const Program& program_;
  std::vector<PlannedFunction>& planned_;
  std::vector<std::set<int>> callees_;
  std::vector<CallMemory> memory_;
  std::vector<bool> is_known_;
};

}  // namespace

bool is_made_by_data(const Function& function, const Step& step, ValueId result) {
  const Value& value = function.values[result];
  if (value.storage == ValueStorage::kGrowing) return true;
  if (value.storage != ValueStorage::kOwn) return false;
  if (value.is_list()) return false;  // one line for all
  return step.kind == StepKind::kLaunch || step.kind == StepKind::kCallClosure ||
         step.kind == StepKind::kText ||
         (step.kind == StepKind::kCall && depends_on_data(function, value.bytes()));
}

bool depends_on_data(const Function& function, DimExpr bytes) {
  return std::ranges::any_of(bytes.symbols(), [&](const std::string& symbol) {
    return symbol != kThreadsSymbol &&
           std::ranges::find(function.dimensions, symbol, &Dimension::name) ==
               function.dimensions.end();
  });
}

std::vector<CallMemory> memory_of_calls(const Program& program,
                                        std::vector<PlannedFunction>& planned) {
  return CallMemoryFinder(program, planned).run();
}

}  // namespace scopevm::bytecode
