// What lies in the frame. Values that are asked to lie there must; the rest goes there by stages:
// a stage whose buffers all fit needs no storage, while moving some of them would save nothing. A
// buffer in the frame takes the most bytes that it ever could, so that a frame's size is a
// constant.
#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "compiler/memory/plan.h"

namespace scopevm::compiler::memory {
namespace {

bool is_stack(const Machine& machine, int pool) {
  return machine.pools[pool].kind == PoolKind::kStack;
}

// The machine as far as sizes go: what lies in a frame has a frame's alignment.
Machine in_frames(Machine machine) {
  for (Pool& pool : machine.pools) pool.alignment = Pool::kLeastAlignment;
  return machine;
}

// Callers of the module pass no frames to these: main, and what stands for it at some dims.
bool is_entry(const Function& function) {
  return function.name == "main" || function.name.starts_with("main[");
}

// Which values of a function something else keeps, or hands on to what is known only in the call.
class KeptValues {
 public:
  explicit KeptValues(const Program& program) : program_(program) {
    for (const Function& function : program.functions) {
      kept_.emplace_back(function.values.size(), false);
      for (ValueId input : function.inputs) kept_.back()[input] = is_entry(function);
    }
    for (bool has_grown = true; has_grown;) {
      has_grown = false;
      for (size_t f = 0; f < program.functions.size(); ++f) has_grown |= visit(f);
    }
  }

  // REQUIRES: `root` is no view.
  bool is_kept(size_t function, ValueId root) const { return kept_[function][root]; }

 private:
  bool keep(size_t f, ValueId id) {
    const ValueId root = root_of(program_.functions[f], id);
    if (kept_[f][root]) return false;
    return kept_[f][root] = true;
  }

  bool visit(size_t f) {
    const Function& function = program_.functions[f];
    bool has_grown = false;
    for (ValueId output : function.outputs) has_grown |= keep(f, output);
    for (const Step& step : function.steps) {
      const bool keeps_all = step.kind == StepKind::kMove || step.kind == StepKind::kMakeClosure ||
                             step.kind == StepKind::kCallClosure ||
                             step.kind == StepKind::kMakeList || step.kind == StepKind::kListInsert;
      for (size_t i = 0; i < step.operands.size(); ++i)
        if (keeps_all || (step.kind == StepKind::kCall && keeps(step.callee, i)))
          has_grown |= keep(f, step.operands[i]);
    }
    return has_grown;
  }

  bool keeps(int callee, size_t parameter) const {
    return kept_[callee][program_.functions[callee].inputs[parameter]];
  }

  const Program& program_;
  std::vector<std::vector<bool>> kept_;  // by function and value
};

class FunctionStacks {
 public:
  FunctionStacks(const Machine& machine, Function& function,
                 const std::function<bool(ValueId)>& is_kept)
      : machine_(machine), function_(function), is_kept_(is_kept) {}

  Status run() {
    outputs_ = output_of_root(function_);
    for (const Value& value : function_.values)
      if (value.is_scope_asked && is_stack(machine_, value.place.pool)) {
        SCOPEVM_RETURN_IF_ERROR(check_asked(value));
        if (std::ranges::find(function_.stacks, value.place.pool) == function_.stacks.end())
          function_.stacks.push_back(value.place.pool);
      }
    liveness_ = find_lifespans(in_frames(machine_), function_);
    for (int pool : function_.stacks) SCOPEVM_RETURN_IF_ERROR(check_height(pool));
    mark_fixed();
    for (size_t device = 0; device < machine_.devices.size(); ++device)
      if (std::optional<int> stack = machine_.stack_pool(static_cast<int>(device)))
        move_stages(machine_.workspace_pool(static_cast<int>(device)), *stack);
    std::ranges::sort(function_.stacks);
    return {};
  }

 private:
  // --- What is asked for. ---

  Status check_asked(const Value& value) const {
    const auto id = static_cast<ValueId>(&value - function_.values.data());
    const ValueId root = root_of(function_, id);
    const Value& of = function_.values[root];
    const int64_t limit = machine_.pools[value.place.pool].limit;
    const DimExpr bytes = of.bytes();
    const int64_t most = interval_of(bytes).max;
    if (of.place.pool != value.place.pool) return refuse(value, "it shows bytes that do not");
    if (of.origin != ValueOrigin::kStep) return refuse(value, "its bytes are the caller's");
    if (outputs_[root] >= 0) return refuse(value, "it is a result, which outlives the call");
    if (of.storage != ValueStorage::kPlanned)
      return refuse(value, "a register keeps it beyond its block, or a callee makes it");
    if (is_kept_(root)) return refuse(value, "something keeps it: a list, a closure or a result");
    if (most > limit)
      return refuse(value, bytes.is_constant()
                               ? "it takes " + bytes.str() + " bytes"
                               : "its " + bytes.str() + " bytes have no constant bound that fits");
    return {};
  }

  Status refuse(const Value& value, const std::string& why) const {
    const Pool& pool = machine_.pools[value.place.pool];
    return {StatusCode::kInvalidModel, function_.name + ": \"" + value.name + "\" cannot lie in " +
                                           machine_.pool_name(value.place.pool) + ", which has " +
                                           std::to_string(pool.limit) +
                                           " bytes in a frame: " + why};
  }

  Status check_height(int pool) const {
    const int64_t height = height_of_all(buffers_in(pool));
    if (height <= machine_.pools[pool].limit) return {};
    // The largest, to name one.
    const Value* largest = nullptr;
    for (size_t id = 0; id < function_.values.size(); ++id)
      if (const Value& value = function_.values[id];
          value.place.pool == pool && liveness_.buffer_of_value[id] >= 0 &&
          (!largest || interval_of(value.bytes()).max > interval_of(largest->bytes()).max))
        largest = &value;
    return refuse(*largest, "all that is asked for there takes " + std::to_string(height));
  }

  // --- What may go there. ---

  std::vector<int> buffers_in(int pool) const {
    std::vector<int> buffers;
    for (size_t i = 0; i < liveness_.buffers.size(); ++i)
      if (liveness_.buffers[i].pool == pool) buffers.push_back(static_cast<int>(i));
    return buffers;
  }

  int64_t most_bytes(int buffer) const { return interval_of(liveness_.buffers[buffer].bytes).max; }

  // A plan's height at most, also when limits of pools add steps to the function.
  int64_t height_of_all(const std::vector<int>& buffers) const {
    std::vector<Buffer> sized;
    for (int i : buffers) {
      const Liveness::Lifespan& lifespan = liveness_.buffers[i];
      sized.push_back({i, lifespan.lower, lifespan.upper, most_bytes(i)});
    }
    return sized.empty() ? 0 : place_best(sized, /*may_use_spans=*/false);
  }

  // Buffers that stay where they are: someone asked for it, or something keeps one of their values.
  void mark_fixed() {
    is_fixed_.assign(liveness_.buffers.size(), false);
    for (size_t id = 0; id < function_.values.size(); ++id) {
      const int buffer = liveness_.buffer_of_value[id];
      const Value& value = function_.values[id];
      if (buffer < 0) continue;
      if (value.is_scope_asked || is_kept_(root_of(function_, static_cast<ValueId>(id))))
        is_fixed_[buffer] = true;
      if (value.twin >= 0) tie(buffer, liveness_.buffer_of_value[value.twin]);
    }
  }

  // Their registers change names: they stay together.
  void tie(int buffer, int twin) {
    if (twin < 0)
      is_fixed_[buffer] = true;
    else if (place_key(buffer) != place_key(twin))
      is_fixed_[buffer] = is_fixed_[twin] = true;
  }

  std::pair<int, int> place_key(int buffer) const {
    return {liveness_.buffers[buffer].stage, liveness_.buffers[buffer].pool};
  }

  void move_stages(int from, int stack) {
    const int64_t limit = machine_.pools[stack].limit;
    std::map<int, std::vector<int>> by_stage;
    for (int buffer : buffers_in(from)) by_stage[liveness_.buffers[buffer].stage].push_back(buffer);
    std::vector<int> moved = buffers_in(stack);
    for (const auto& [stage, buffers] : by_stage) {
      if (std::ranges::any_of(
              buffers, [&](int buffer) { return is_fixed_[buffer] || most_bytes(buffer) > limit; }))
        continue;
      std::vector<int> all = moved;
      all.insert(all.end(), buffers.begin(), buffers.end());
      if (height_of_all(all) > limit) continue;
      moved = std::move(all);
      for (int buffer : buffers) move(buffer, stack);
    }
  }

  void move(int buffer, int stack) {
    if (std::ranges::find(function_.stacks, stack) == function_.stacks.end())
      function_.stacks.push_back(stack);
    move_buffer(function_, liveness_, buffer, stack);
  }

  const Machine& machine_;
  Function& function_;
  const std::function<bool(ValueId)>& is_kept_;  // of roots
  std::vector<int> outputs_;
  Liveness liveness_;
  std::vector<bool> is_fixed_;  // by buffer
};

// A parameter that one call gives bytes of a frame may have them in every call. True when one
// became such.
bool pass_on(Program& program, const Function& function) {
  bool has_changed = false;
  for (const Step& step : function.steps) {
    if (step.kind != StepKind::kCall) continue;
    Function& callee = program.functions[step.callee];
    for (size_t i = 0; i < step.operands.size(); ++i) {
      const int pool = function.values[root_of(function, step.operands[i])].place.pool;
      int& parameter = callee.values[callee.inputs[i]].place.pool;
      if (!is_stack(program.machine, pool) || is_stack(program.machine, parameter)) continue;
      parameter = pool;
      has_changed = true;
    }
  }
  return has_changed;
}

}  // namespace

Status use_stacks(Program& program) {
  const KeptValues kept(program);
  for (size_t f = 0; f < program.functions.size(); ++f)
    SCOPEVM_RETURN_IF_ERROR(FunctionStacks(program.machine, program.functions[f], [&](ValueId id) {
                              return kept.is_kept(f, id);
                            }).run());
  for (bool has_changed = true; has_changed;) {
    has_changed = false;
    for (const Function& function : program.functions) has_changed |= pass_on(program, function);
  }
  return {};
}

}  // namespace scopevm::compiler::memory
