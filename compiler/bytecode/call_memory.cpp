// Translates the bytes that callees need to values over the caller's dims.
//
// One callee runs at a time. At a step of the function, the pools hold its arenas, its allocated
// results, and the results of earlier calls that it keeps. During a call, they also hold the
// callee's bytes. The reported number is the maximum of
//   kept + callee - results that are not yet allocated
// over all steps: added to the arenas and all results, it is the peak.
#include "compiler/bytecode/call_memory.h"

#include <algorithm>

#include "compiler/program/call_graph.h"

namespace scopevm::compiler::bytecode {
namespace {

using ValueIndex = ShapeProgram::ValueIndex;
using ByPool = CallMemory::ByPool;

class CallMemoryFinder {
 public:
  CallMemoryFinder(const Program& program, PlannedFunctions& planned)
      : program_(program), planned_(planned), calls_(program), memory_(planned.size()) {}

  IndexedVector<FunctionIndex, CallMemory> run() {
    // The memory of a recursive callee is reported as open, so the order in a cycle has no effect.
    for (FunctionIndex f : calls_.callees_first()) find(f);
    return std::move(memory_);
  }

 private:
  void find(FunctionIndex f) {
    const Function& function = program_.functions[f];
    CallMemory& memory = memory_[f];
    const bool has_calls = std::ranges::any_of(function.steps, &Step::is<step::Call>);
    // The callee of a closure is known only at run time.
    if (std::ranges::any_of(function.steps, &Step::is<step::MakeClosure, step::CallClosure>))
      add_open(memory, {"closures"});
    if (!has_calls) return;
    const ResultLifetimes results = lifetimes_of(f);
    int depth = 0;  // nesting of branches and loops
    for (size_t at = 0; at < function.steps.size(); ++at) {
      const Step& step = function.steps[at];
      if (step.is<step::If, step::Loop>()) ++depth;
      ByPool needed = held_at(f, results, static_cast<int64_t>(at));
      if (const auto* call = step.as<step::Call>())
        if (!add_callee(f, step, needed))
          add_open(memory, {"calls of " + program_.functions[call->callee].name,
                            calls_.is_recursive(call->callee)});
      // A closing mark counts as inside: the condition of the next iteration is live there.
      raise(f, memory.bytes, needed, /*is_always_executed=*/depth == 0);
      if (step.is<step::EndIf, step::EndLoop>()) --depth;
    }
  }

  // A result that a function allocates or receives from a call. Its bytes depend on the dims only.
  struct Lifetime {
    PoolIndex pool;
    DimExpr bytes;
    int64_t begin = 0;         // the step that allocates it, or the call that returns it
    int64_t end = 0;           // the step after which it is released; unused for outputs
    bool is_output = false;    // a result of the function
    bool is_returned = false;  // by a call: during the call, its bytes are those of the callee
  };
  using ResultLifetimes = std::vector<Lifetime>;

  ResultLifetimes lifetimes_of(FunctionIndex f) const {
    const Function& function = program_.functions[f];
    const memory::LastSteps releases = memory::release_steps(function);
    const IndexedVector<ValueId, bool> is_output = output_roots(function);
    IndexedVector<ValueId, bool> is_seen(function.values.size());
    ResultLifetimes lifetimes;
    for (size_t at = 0; at < function.steps.size(); ++at) {
      const Step& step = function.steps[at];
      const auto* call = step.as<step::Call>();
      for (size_t i = 0; i < step.results.size(); ++i) {
        const ValueId id = step.results[i];
        const Value& value = function.values[id];
        if (is_seen[id] || value.is_list() || value.origin != ValueOrigin::kStep ||
            !(is_output[id] || call) || depends_on_data(function, value.bytes()))
          continue;
        is_seen[id] = true;
        lifetimes.push_back({.pool = pool_of(value, call, i),
                             .bytes = value.bytes(),
                             .begin = static_cast<int64_t>(at),
                             .end = releases[id].value_or(static_cast<int64_t>(at)),
                             .is_output = is_output[id],
                             .is_returned = call != nullptr});
      }
    }
    return lifetimes;
  }

  // The callee allocates the results of a call in the pools of its own results.
  PoolIndex pool_of(const Value& value, const step::Call* call, size_t result) const {
    if (!call) return result_pool(program_.machine, value);
    const Function& callee = program_.functions[call->callee];
    return result_pool(program_.machine, callee.values[callee.outputs[result]]);
  }

  // Kept results of calls minus results of the function that are not yet allocated. A result of
  // the call at `at` counts as the callee's.
  ByPool held_at(FunctionIndex f, const ResultLifetimes& results, int64_t at) {
    std::map<PoolIndex, DimExpr> bytes;
    for (const Lifetime& result : results) {
      DimExpr& sum = bytes[result.pool];
      const bool is_made = result.is_returned ? result.begin < at : result.begin <= at;
      if (result.is_output && !is_made) sum = sum - result.bytes;
      if (!result.is_output && is_made && at <= result.end) sum = sum + result.bytes;
    }
    ByPool held;
    for (const auto& [pool, sum] : bytes) {
      const ValueIndex value = planned_[f].shapes.value(sum);
      held[pool] = {value, value};
    }
    return held;
  }

  // Adds the bytes of the callee. Returns false if the dims at the start of the caller do not
  // determine them.
  bool add_callee(FunctionIndex f, const Step& step, ByPool& needed) {
    const FunctionIndex callee = *step.callee();
    if (calls_.is_recursive(callee) || !memory_[callee].open.empty() || needs_by_data(callee))
      return false;
    const ByPool bytes = in_call(f, step, total_of(callee));
    if (!std::ranges::all_of(bytes, [&](const auto& entry) {
          return planned_[f].shapes.segment_of(entry.second.most) == SegmentIndex{0};
        }))
      return false;
    add(needed, bytes, planned_[f].shapes);
    return true;
  }

  static void add_open(CallMemory& memory, CallMemory::Open open) {
    if (std::ranges::find(memory.open, open.what, &CallMemory::Open::what) == memory.open.end())
      memory.open.push_back(std::move(open));
  }

  static void add(ByPool& sum, const ByPool& bytes, ShapeProgram& shapes) {
    for (const auto& [pool, more] : bytes) {
      auto [entry, is_new] = sum.try_emplace(pool, more);
      if (is_new) continue;
      entry->second.most = shapes.add(entry->second.most, more.most);
      entry->second.lower_bound = shapes.add(entry->second.lower_bound, more.lower_bound);
    }
  }

  void raise(FunctionIndex f, ByPool& most, const ByPool& by, bool is_always_executed) {
    ShapeProgram& shapes = planned_[f].shapes;
    for (const auto& [pool, bytes] : by) {
      auto [entry, is_new] =
          most.try_emplace(pool, CallBytes{shapes.constant(0), shapes.constant(0)});
      entry->second.most = shapes.max(entry->second.most, bytes.most);
      if (is_always_executed)
        entry->second.lower_bound = shapes.max(entry->second.lower_bound, bytes.lower_bound);
    }
  }

  // All bytes of a function: its arenas, its results and those of its calls.
  ByPool total_of(FunctionIndex f) {
    ShapeProgram& shapes = planned_[f].shapes;
    ByPool total = memory_[f].bytes;
    for (const memory::Arena& arena : planned_[f].plan.arenas)
      add(total, {{arena.pool, {arena.height, arena.lower_bound}}}, shapes);
    const Function& function = program_.functions[f];
    for (ValueId output : function.outputs) {
      const Value& value = function.values[output];
      const ValueIndex bytes = shapes.value(value.bytes());
      add(total, {{result_pool(program_.machine, value), {bytes, bytes}}}, shapes);
    }
    return total;
  }

  // True if memory of the function depends on data: arenas of later segments, results that are
  // lists or have data-dependent sizes, or values for which is_made_by_data() holds.
  bool needs_by_data(FunctionIndex f) const {
    const Function& function = program_.functions[f];
    for (const memory::Arena& arena : planned_[f].plan.arenas)
      if (arena.segment > SegmentIndex{0}) return true;
    if (std::ranges::any_of(function.outputs, [&](ValueId output) {
          const Value& value = function.values[output];
          return value.is_list() || depends_on_data(function, value.bytes());
        }))
      return true;
    const IndexedVector<ValueId, bool> is_output = output_roots(function);
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
  const CallGraph calls_;
  IndexedVector<FunctionIndex, CallMemory> memory_;
};

}  // namespace

bool is_made_by_data(const Function& function, const Step& step, ValueId result) {
  const Value& value = function.values[result];
  if (value.storage == ValueStorage::kDynamic) return true;
  if (value.storage != ValueStorage::kOwn) return false;
  if (value.is_list()) return false;  // all lists share one entry
  return step.is<step::Launch, step::Copy, step::CallClosure, step::StringWork>() ||
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
