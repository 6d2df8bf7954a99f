// Inlines calls, so that one plan covers the buffers of a caller and its callees. Buffers that are
// never live at the same time then share memory. Callees write results directly to the caller's
// buffers, and the bound of the caller is exact. Not inlined: calls of recursive functions, calls
// of closures whose function is known only at run time, and calls that would make the caller too
// long. inlined_call.cpp inlines one call.
#include "compiler/program/transform/inline_calls.h"

#include <algorithm>
#include <set>

#include "compiler/program/call_graph.h"
#include "compiler/program/transform/inlined_call.h"

namespace scopevm::compiler::transform {
namespace {

// Numbers the segments in the order in which they begin: a value that depends on several segments
// becomes known in the one with the largest index.
void number_segments(Function& function) {
  IndexedVector<SegmentIndex, SegmentIndex> now(function.segments.size());
  IndexedVector<SegmentIndex, Segment> segments = {std::move(function.segments.front())};
  for (Step& step : function.steps)
    if (step.segment) {
      now[*step.segment] = segments.next_index();
      segments.push_back(std::move(function.segments[*step.segment]));
      step.segment = now[*step.segment];
    }
  for (Value& value : function.values) value.segment = now[value.segment];
  for (Check& check : function.checks) check.segment = now[check.segment];
  function.segments = std::move(segments);
}

class CallInliner {
 public:
  CallInliner(Program& program, int64_t most_steps)
      : program_(program), most_steps_(most_steps), calls_(program) {}

  void run() {
    std::set<FunctionIndex> called;
    for (FunctionIndex f : program_.functions.indices())
      called.insert(calls_.reachable(f).begin(), calls_.reachable(f).end());
    for (FunctionIndex f : calls_.callees_first()) inline_into(program_.functions[f]);
    remove_unused(called);
  }

 private:
  struct Callee {
    FunctionIndex function;
    std::vector<ValueId> operands;
  };

  void inline_into(Function& function) {
    bool has_changed = false;
    int next_name = 1;
    // An inlined body may call closures that the caller makes, so its steps are visited, too.
    for (int64_t at = 0; at < static_cast<int64_t>(function.steps.size());) {
      const std::optional<Callee> callee = callee_at(function, at);
      if (!callee || !may_inline(function, callee->function)) {
        ++at;
        continue;
      }
      inline_call(function, at, program_.functions[callee->function], callee->operands, next_name);
      has_changed = true;
    }
    if (!has_changed) return;
    remove_closures(function);
    number_segments(function);
  }

  bool may_inline(const Function& caller, FunctionIndex callee) const {
    const size_t steps = caller.steps.size() + program_.functions[callee].steps.size();
    return !calls_.is_recursive(callee) && static_cast<int64_t>(steps) <= most_steps_;
  }

  // The function that a call or a call of a closure runs, if the program determines it.
  static std::optional<Callee> callee_at(const Function& function, int64_t at) {
    const Step& step = function.steps[at];
    if (const auto* call = step.as<step::Call>()) return Callee{call->callee, step.operands};
    if (!step.is<step::CallClosure>()) return std::nullopt;
    const Step* maker = nullptr;
    for (const Step& other : function.steps)
      if (std::ranges::find(other.results, step.operands.front()) != other.results.end()) {
        // A closure that several steps write is chosen at run time.
        if (maker || !other.is<step::MakeClosure>()) return std::nullopt;
        maker = &other;
      }
    if (!maker) return std::nullopt;
    Callee callee{*maker->callee(), maker->operands};
    callee.operands.insert(callee.operands.end(), step.operands.begin() + 1, step.operands.end());
    return callee;
  }

  // Removes closures that are no longer used. Memory can then be planned for values that only these
  // closures captured.
  static void remove_closures(Function& function) {
    for (int64_t at = 0; at < static_cast<int64_t>(function.steps.size()); ++at) {
      const Step step = function.steps[at];
      if (!step.is<step::MakeClosure>() || is_used(function, step.results.front())) continue;
      splice(function, at--, 1, {});
      for (ValueId id : step.operands)
        if (Value& value = function.values[id];
            value.storage == ValueStorage::kOwn && may_be_planned(function, id))
          value.storage = ValueStorage::kPlanned;
    }
  }

  static bool is_used(const Function& function, ValueId id) {
    return std::ranges::find(function.outputs, id) != function.outputs.end() ||
           std::ranges::any_of(function.steps, [&](const Step& step) {
             return std::ranges::find(step.operands, id) != step.operands.end();
           });
  }

  // True if only kernels and copies write the value, and no step makes another reference to it.
  static bool may_be_planned(const Function& function, ValueId id) {
    bool is_written = false;
    for (const Step& step : function.steps) {
      if (std::ranges::find(step.results, id) != step.results.end()) {
        if (!step.is<step::Launch, step::Copy>()) return false;
        is_written = true;
      }
      if (step.is<step::Move, step::MakeClosure, step::MakeList, step::ListInsert>() &&
          std::ranges::any_of(step.operands,
                              [&](ValueId operand) { return root_of(function, operand) == id; }))
        return false;
    }
    return is_written;
  }

  // Removes the functions of `called` that the other functions no longer reach.
  void remove_unused(const std::set<FunctionIndex>& called) {
    const CallGraph now(program_);
    std::set<FunctionIndex> used;
    for (FunctionIndex f : program_.functions.indices())
      if (!called.contains(f)) {
        used.insert(f);
        used.insert(now.reachable(f).begin(), now.reachable(f).end());
      }
    IndexedVector<FunctionIndex, FunctionIndex> index(program_.functions.size());
    IndexedVector<FunctionIndex, Function> functions;
    for (FunctionIndex f : used) {
      index[f] = functions.next_index();
      functions.push_back(std::move(program_.functions[f]));
    }
    program_.functions = std::move(functions);
    for (Function& function : program_.functions)
      for (Step& step : function.steps) {
        if (auto* call = step.as<step::Call>()) call->callee = index[call->callee];
        if (auto* closure = step.as<step::MakeClosure>()) closure->callee = index[closure->callee];
      }
  }

  Program& program_;
  const int64_t most_steps_;
  const CallGraph calls_;
};

}  // namespace

void inline_calls(Program& program, int64_t most_steps) { CallInliner(program, most_steps).run(); }

}  // namespace scopevm::compiler::transform
