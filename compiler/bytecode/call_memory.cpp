// Computes the memory of calls; see call_memory.h. Translates the bytes of callees to values over
// the caller's dims.
#include "compiler/bytecode/call_memory.h"

#include <algorithm>
#include <set>

namespace scopevm::compiler::bytecode {
namespace {

using ValueIndex = ShapeProgram::ValueIndex;

using Callees = std::set<FunctionIndex>;

// The direct and indirect callees of each function.
IndexedVector<FunctionIndex, Callees> callees_of_all(const Program& program) {
  IndexedVector<FunctionIndex, Callees> callees(program.functions.size());
  for (FunctionIndex f : callees.indices())
    for (const Step& step : program.functions[f].steps)
      if (step.callee()) callees[f].insert(*step.callee());
  // The transitive closure, as a fixed point.
  for (bool has_grown = true; has_grown;) {
    has_grown = false;
    for (Callees& known : callees) {
      const Callees direct = known;
      for (FunctionIndex callee : direct)
        known.insert(callees[callee].begin(), callees[callee].end());
      has_grown = has_grown || known.size() > direct.size();
    }
  }
  return callees;
}

using ByPool = CallMemory::ByPool;

// The sum of the memory of a function itself and of its calls, as values of its shape program.
ByPool total(ByPool own, const ByPool& calls, ShapeProgram& shapes) {
  for (const auto& [pool, bytes] : calls) {
    auto [entry, is_new] = own.try_emplace(pool, bytes);
    if (is_new) continue;
    CallBytes& sum = entry->second;
    sum.most = shapes.add(sum.most, bytes.most);
    sum.lower_bound = shapes.add(sum.lower_bound, bytes.lower_bound);
  }
  return own;
}

class CallMemoryFinder {
 public:
  CallMemoryFinder(const Program& program, PlannedFunctions& planned)
      : program_(program),
        planned_(planned),
        callees_(callees_of_all(program)),
        memory_(planned.size()),
        is_known_(planned.size()) {}

  IndexedVector<FunctionIndex, CallMemory> run() {
    for (FunctionIndex f : planned_.indices()) find(f);
    return std::move(memory_);
  }

 private:
  bool is_recursive(FunctionIndex function) const { return callees_[function].contains(function); }

  void find(FunctionIndex f) {
    if (is_known_[f]) return;
    // Set before the visit, so that find() terminates for recursive functions. add_call() reports
    // the memory of a recursive call in CallMemory::open.
    is_known_[f] = true;
    const Function& function = program_.functions[f];
    const memory::LastSteps releases = memory::release_steps(function);
    const IndexedVector<ValueId, bool> is_output = memory::output_roots(function);
    CallMemory memory;
    for (size_t at = 0; at < function.steps.size(); ++at) {
      const Step& step = function.steps[at];
      // The callee of a closure is known only at run time.
      if (step.is<step::MakeClosure, step::CallClosure>()) add_open(memory, {"closures"});
      if (!step.is<step::Call>()) continue;
      add_call(f, step, kept_at(f, static_cast<int64_t>(at), releases, is_output), memory);
    }
    memory_[f] = std::move(memory);
  }

  // The bytes of call results that the function holds at step `at`, without results whose bytes
  // depend on data.
  ByPool kept_at(FunctionIndex f, int64_t at, const memory::LastSteps& releases,
                 const IndexedVector<ValueId, bool>& is_output) {
    const Function& function = program_.functions[f];
    std::map<PoolIndex, DimExpr> bytes;
    for (int64_t before = 0; before <= at; ++before)
      for (ValueId result : function.steps[before].results) {
        const Value& value = function.values[result];
        if (function.steps[before].is<step::Call>() && !is_output[result] && !value.is_list() &&
            // A result is counted from the call that returns it until its register is released.
            (before == at || releases[result] >= at) && !depends_on_data(function, value.bytes())) {
          DimExpr& sum = bytes[program_.machine.global_pool(value.place.device)];
          sum = sum + value.bytes();
        }
      }
    ByPool kept;
    for (const auto& [pool, sum] : bytes) {
      ValueIndex value = planned_[f].shapes.value(sum);
      kept[pool] = {value, value};
    }
    return kept;
  }

  void add_call(FunctionIndex f, const Step& step, const ByPool& kept, CallMemory& memory) {
    const FunctionIndex callee = *step.callee();
    CallMemory needed{.results = kept};
    bool is_known = !is_recursive(callee);
    if (is_known) {
      find(callee);
      is_known = memory_[callee].open.empty() && !needs_by_data(callee);
      needed.workspace = in_call(f, step, workspace_of(callee));
      needed.results = total(kept, in_call(f, step, memory_[callee].results), planned_[f].shapes);
    }
    // A bound is evaluated before the call, so it may use only the dims of the inputs.
    bool has_early_dims = is_early(f, needed.workspace) && is_early(f, needed.results);
    if (has_early_dims) {
      raise(f, memory.workspace, needed.workspace);
      raise(f, memory.results, needed.results);
    } else {
      // The bytes that the function itself holds depend only on the inputs' dims.
      raise(f, memory.results, kept);
    }
    if (!is_known || !has_early_dims)
      add_open(memory, {"calls of " + program_.functions[callee].name, is_recursive(callee)});
  }

  static void add_open(CallMemory& memory, CallMemory::Open open) {
    if (std::ranges::find(memory.open, open.what, &CallMemory::Open::what) == memory.open.end())
      memory.open.push_back(std::move(open));
  }

  // True if the dims of the inputs determine the bytes.
  bool is_early(FunctionIndex f, const ByPool& bytes) const {
    return std::ranges::all_of(bytes, [&](const auto& entry) {
      return planned_[f].shapes.segment_of(entry.second.most) == SegmentIndex{0};
    });
  }

  // Raises `most` to the maximum of `most` and `by`.
  void raise(FunctionIndex f, ByPool& most, const ByPool& by) {
    ShapeProgram& shapes = planned_[f].shapes;
    for (const auto& [pool, bytes] : by) {
      auto [entry, is_new] = most.try_emplace(pool, bytes);
      CallBytes& sum = entry->second;
      if (is_new) continue;
      sum.most = shapes.max(sum.most, bytes.most);
      sum.lower_bound = shapes.max(sum.lower_bound, bytes.lower_bound);
    }
  }

  ByPool workspace_of(FunctionIndex f) {
    const memory::Plan& plan = planned_[f].plan;
    ByPool own;
    for (const memory::Arena& arena : plan.arenas)
      if (arena.segment == SegmentIndex{0}) own[arena.pool] = {arena.height, arena.lower_bound};
    return total(std::move(own), memory_[f].workspace, planned_[f].shapes);
  }

  // True if the function has arenas in later segments, or storages whose allocation or size depends
  // on data. These are the entries of add_memory_by_data() in emit.cpp.
  bool needs_by_data(FunctionIndex f) const {
    const Function& function = program_.functions[f];
    for (const memory::Arena& arena : planned_[f].plan.arenas)
      if (arena.segment > SegmentIndex{0}) return true;
    const IndexedVector<ValueId, bool> is_output = memory::output_roots(function);
    return std::ranges::any_of(function.steps, [&](const Step& step) {
      return std::ranges::any_of(step.results, [&](ValueId id) {
        return !is_output[id] && is_made_by_data(function, step, id);
      });
    });
  }

  // Translates the callee's bytes to the caller's dims.
  ByPool in_call(FunctionIndex f, const Step& step, const ByPool& by_pool) {
    const Function& caller = program_.functions[f];
    ShapeProgram& shapes = planned_[f].shapes;
    std::vector<ValueIndex> dims;
    for (size_t i = 0; i < step.operands.size(); ++i) {
      const Value& argument = caller.values[step.operands[i]];
      if (argument.is_list()) continue;
      for (DimExpr dim : argument.shape) dims.push_back(shapes.value(dim));
    }
    const ShapeProgram& of = planned_[*step.callee()].shapes;
    ByPool results;
    for (const auto& [pool, bytes] : by_pool)
      results[pool] = {shapes.value_in_call(of, bytes.most, dims),
                       shapes.value_in_call(of, bytes.lower_bound, dims)};
    return results;
  }

  const Program& program_;
  PlannedFunctions& planned_;
  IndexedVector<FunctionIndex, Callees> callees_;
  IndexedVector<FunctionIndex, CallMemory> memory_;
  IndexedVector<FunctionIndex, bool> is_known_;
};

}  // namespace

bool is_made_by_data(const Function& function, const Step& step, ValueId result) {
  const Value& value = function.values[result];
  if (value.storage == ValueStorage::kDynamic) return true;
  if (value.storage != ValueStorage::kOwn) return false;
  if (value.is_list()) return false;  // the memory formulas have one entry for all lists
  return step.is<step::Launch, step::CallClosure, step::StringWork>() ||
         (step.is<step::Call>() && depends_on_data(function, value.bytes()));
}

bool depends_on_data(const Function& function, DimExpr bytes) {
  return std::ranges::any_of(bytes.symbols(), [&](const std::string& symbol) {
    return symbol != kThreadsSymbol &&
           std::ranges::find(function.dimensions, symbol, &Dimension::name) ==
               function.dimensions.end();
  });
}

IndexedVector<FunctionIndex, CallMemory> memory_of_calls(const Program& program,
                                                         PlannedFunctions& planned) {
  return CallMemoryFinder(program, planned).run();
}

}  // namespace scopevm::compiler::bytecode
