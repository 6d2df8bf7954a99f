// Chooses the buffers that are stored in the frame of a call. Values that the graph requires in a
// frame must fit. Other buffers are moved by segment, all or none: a segment without workspace
// buffers needs no allocation, while moving only some of them saves nothing. A buffer in the frame
// has the size of its upper bound over all dims, so that the size of a frame is a constant.
#include "compiler/program/transform/stack.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <set>

#include "compiler/memory/liveness.h"
#include "scopevm/plan.h"

namespace scopevm::compiler::transform {
namespace {

using memory::BufferIndex;
using memory::Liveness;

bool is_stack(const Machine& machine, PoolIndex pool) {
  return machine.pools[pool].kind == PoolKind::kStack;
}

// The machine, with the alignment of frames in all pools. Used to compute the sizes of buffers in
// frames.
Machine in_frames(Machine machine) {
  for (Pool& pool : machine.pools) pool.alignment = Pool::kLeastAlignment;
  return machine;
}

// Finds the values that may outlive the frame. These are outputs, inputs of entry functions,
// operands of moves, and values stored in lists and closures. Arguments of closures, and of callees
// that keep their parameter, are also kept. Computed as a fixed point over the call graph.
class KeptValues {
 public:
  explicit KeptValues(const Program& program) : program_(program) {
    for (const Function& function : program.functions) {
      kept_.emplace_back(function.values.size(), false);
      // Arguments of entries come from the caller of the module, never from a frame.
      for (ValueId input : function.inputs) kept_.back()[input] = function.is_entry;
    }
    // Terminates, because values only become kept.
    for (bool has_grown = true; has_grown;) {
      has_grown = false;
      for (FunctionIndex f : program.functions.indices()) has_grown |= visit(f);
    }
  }

  // REQUIRES: `root` is not a view.
  bool is_kept(FunctionIndex function, ValueId root) const { return kept_[function][root]; }

 private:
  bool keep(FunctionIndex f, ValueId id) {
    const ValueId root = root_of(program_.functions[f], id);
    if (kept_[f][root]) return false;
    return kept_[f][root] = true;
  }

  bool visit(FunctionIndex f) {
    const Function& function = program_.functions[f];
    bool has_grown = false;
    for (ValueId output : function.outputs) has_grown |= keep(f, output);
    for (const Step& step : function.steps) {
      // Moves, lists and closures refer to their operands. The callee of a closure is known only at
      // run time, so its arguments count as kept.
      const bool keeps_all = step.is<step::Move, step::MakeClosure, step::CallClosure,
                                     step::MakeList, step::ListInsert>();
      const auto* call = step.as<step::Call>();
      for (size_t i = 0; i < step.operands.size(); ++i)
        if (keeps_all || (call && keeps(call->callee, i))) has_grown |= keep(f, step.operands[i]);
    }
    return has_grown;
  }

  bool keeps(FunctionIndex callee, size_t parameter) const {
    return kept_[callee][program_.functions[callee].inputs[parameter]];
  }

  const Program& program_;
  IndexedVector<FunctionIndex, IndexedVector<ValueId, bool>> kept_;
};

class FunctionStacks {
 public:
  FunctionStacks(const Machine& machine, Function& function,
                 const std::function<bool(ValueId)>& is_kept)
      : machine_(machine), function_(function), is_kept_(is_kept) {}

  Status run() {
    is_output_ = output_roots(function_);
    for (ValueId id : function_.values.indices())
      if (const Value& value = function_.values[id];
          value.is_scope_required && is_stack(machine_, value.place.pool)) {
        SCOPEVM_RETURN_IF_ERROR(check_required(id));
        if (std::ranges::find(function_.stacks, value.place.pool) == function_.stacks.end())
          function_.stacks.push_back(value.place.pool);
      }
    liveness_ = memory::find_lifespans(in_frames(machine_), function_);
    for (PoolIndex pool : function_.stacks) SCOPEVM_RETURN_IF_ERROR(check_height(pool));
    mark_fixed();
    for (DeviceIndex device : machine_.devices.indices())
      if (std::optional<PoolIndex> stack = machine_.stack_pool(device))
        move_segments(machine_.workspace_pool(device), *stack);
    // Sorted, so that the order of the pools in the module does not depend on the order of values.
    std::ranges::sort(function_.stacks);
    return {};
  }

 private:
  // --- Values that the graph requires in a stack. ---

  Status check_required(ValueId id) const {
    const Value& value = function_.values[id];
    const ValueId root = root_of(function_, id);
    const Value& of = function_.values[root];
    const int64_t limit = limit_of(value.place.pool);
    const DimExpr bytes = of.bytes();
    const int64_t most = interval_of(bytes).max;
    if (of.place.pool != value.place.pool)
      return refuse(value, "it is a view of a value stored in another pool");
    if (of.origin != ValueOrigin::kStep) return refuse(value, "its storage belongs to the caller");
    if (is_output_[root]) return refuse(value, "it is a result, which outlives the call");
    if (of.storage != ValueStorage::kPlanned)
      return refuse(value,
                    "it has its own storage (it outlives its block, or a callee allocates it)");
    if (is_kept_(root))
      return refuse(value, "it may outlive the frame: a list, closure or result refers to it");
    if (most > limit)
      return refuse(value, bytes.is_constant()
                               ? "it takes " + bytes.str() + " bytes"
                               : "its " + bytes.str() +
                                     " bytes have no constant upper bound within the limit");
    return {};
  }

  Status refuse(const Value& value, const std::string& why) const {
    return {StatusCode::kInvalidModel,
            function_.name + ": \"" + value.name + "\" cannot be stored in " +
                machine_.pool_name(value.place.pool) + " (" +
                std::to_string(limit_of(value.place.pool)) + " bytes per frame): " + why};
  }

  // REQUIRES: the pool is a stack. Every stack has a limit.
  int64_t limit_of(PoolIndex stack) const { return *machine_.pools[stack].limit; }

  Status check_height(PoolIndex pool) const {
    const int64_t height = height_of_all(buffers_in(pool));
    if (height <= limit_of(pool)) return {};
    // The message names the largest value.
    const Value* largest = nullptr;
    for (ValueId id : function_.values.indices())
      if (const Value& value = function_.values[id];
          value.place.pool == pool && liveness_.buffer_of_value[id] &&
          (!largest || interval_of(value.bytes()).max > interval_of(largest->bytes()).max))
        largest = &value;
    return refuse(*largest, "all values required there take " + std::to_string(height) + " bytes");
  }

  // --- Values that may be moved into a stack. ---

  std::vector<BufferIndex> buffers_in(PoolIndex pool) const {
    std::vector<BufferIndex> buffers;
    for (BufferIndex buffer : liveness_.buffers.indices())
      if (liveness_.buffers[buffer].pool == pool) buffers.push_back(buffer);
    return buffers;
  }

  int64_t most_bytes(BufferIndex buffer) const {
    return interval_of(liveness_.buffers[buffer].bytes).max;
  }

  // The height of a plan of these buffers at their largest sizes. It does not change when spilling
  // adds steps to the function, because solve() counts only steps at which a lifespan begins. The
  // largest number if the sum of the sizes exceeds 64 bits.
  int64_t height_of_all(const std::vector<BufferIndex>& buffers) const {
    plan::Problem problem;
    for (BufferIndex buffer : buffers) {
      const Liveness::Lifespan& lifespan = liveness_.buffers[buffer];
      problem.buffers.push_back(
          {.lifespans = {{lifespan.lower, lifespan.upper}}, .size = most_bytes(buffer)});
    }
    const auto plan = plan::solve(problem, {.solver = plan::Solver::kHeuristic});
    return plan.ok() ? plan->height : std::numeric_limits<int64_t>::max();
  }

  // Marks buffers that stay in their pool: the graph requires a scope, a value may outlive the
  // frame, or tie() marks swap partners.
  void mark_fixed() {
    is_fixed_.assign(liveness_.buffers.size(), false);
    for (ValueId id : function_.values.indices()) {
      const std::optional<BufferIndex> buffer = liveness_.buffer_of_value[id];
      const Value& value = function_.values[id];
      if (!buffer) continue;
      if (value.is_scope_required || is_kept_(root_of(function_, id))) is_fixed_[*buffer] = true;
      if (value.swap_partner) tie(*buffer, liveness_.buffer_of_value[*value.swap_partner]);
    }
  }

  // A swap exchanges the registers of two buffers, so both buffers must stay in one pool. Buffers
  // of one arena are moved together; other partners are not moved.
  void tie(BufferIndex buffer, std::optional<BufferIndex> partner) {
    if (!partner)
      is_fixed_[buffer] = true;
    else if (arena_key(buffer) != arena_key(*partner))
      is_fixed_[buffer] = is_fixed_[*partner] = true;
  }

  std::pair<SegmentIndex, PoolIndex> arena_key(BufferIndex buffer) const {
    return {liveness_.buffers[buffer].segment, liveness_.buffers[buffer].pool};
  }

  // Moves the buffers of whole segments greedily, in the order of segments. Skips a segment that
  // has a fixed buffer, or with which the frame would exceed the limit.
  void move_segments(PoolIndex from, PoolIndex stack) {
    const int64_t limit = limit_of(stack);
    std::map<SegmentIndex, std::vector<BufferIndex>> by_segment;
    for (BufferIndex buffer : buffers_in(from))
      by_segment[liveness_.buffers[buffer].segment].push_back(buffer);
    std::vector<BufferIndex> moved = buffers_in(stack);
    for (const auto& [segment, buffers] : by_segment) {
      if (std::ranges::any_of(buffers, [&](BufferIndex buffer) {
            return is_fixed_[buffer] || most_bytes(buffer) > limit;
          }))
        continue;
      std::vector<BufferIndex> all = moved;
      all.insert(all.end(), buffers.begin(), buffers.end());
      if (height_of_all(all) > limit) continue;
      moved = std::move(all);
      for (BufferIndex buffer : buffers) move(buffer, stack);
    }
  }

  void move(BufferIndex buffer, PoolIndex stack) {
    if (std::ranges::find(function_.stacks, stack) == function_.stacks.end())
      function_.stacks.push_back(stack);
    move_buffer(function_, liveness_, buffer, stack);
  }

  const Machine& machine_;
  Function& function_;
  const std::function<bool(ValueId)>& is_kept_;  // by root value
  IndexedVector<ValueId, bool> is_output_;
  Liveness liveness_;
  IndexedVector<BufferIndex, bool> is_fixed_;
};

// Propagates the stack pool from arguments to parameters: a parameter gets the pool of the stack if
// any call passes bytes of a frame for it. Returns whether a parameter changed.
bool pass_on(Program& program, const Function& function) {
  bool has_changed = false;
  for (const Step& step : function.steps) {
    const auto* call = step.as<step::Call>();
    if (!call) continue;
    Function& callee = program.functions[call->callee];
    for (size_t i = 0; i < step.operands.size(); ++i) {
      const PoolIndex pool = function.values[root_of(function, step.operands[i])].place.pool;
      PoolIndex& parameter = callee.values[callee.inputs[i]].place.pool;
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
  for (FunctionIndex f : program.functions.indices())
    SCOPEVM_RETURN_IF_ERROR(FunctionStacks(program.machine, program.functions[f], [&](ValueId id) {
                              return kept.is_kept(f, id);
                            }).run());
  // Pools propagate along chains of calls and around recursive ones. Terminates, because a
  // parameter changes at most once.
  for (bool has_changed = true; has_changed;) {
    has_changed = false;
    for (const Function& function : program.functions) has_changed |= pass_on(program, function);
  }
  return {};
}

}  // namespace scopevm::compiler::transform
