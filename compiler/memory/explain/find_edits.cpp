// Finds edits; see the header. A value that is live at a step but not read by it can be
//   * computed later, if no step before has read it,
//   * computed a second time, if its kernel is cheap,
//   * released earlier, if the steps that read it later can run before.
#include "compiler/memory/explain/find_edits.h"

#include <algorithm>

#include "compiler/memory/blocks.h"
#include "compiler/memory/explain/steps.h"
#include "compiler/memory/uses.h"

namespace scopevm::compiler::memory {
namespace {

class EditFinder {
 public:
  EditFinder(const Program& program, const Function& function, const Liveness& liveness,
             int64_t step, const Request& request)
      : program_(program),
        function_(function),
        liveness_(liveness),
        step_(step),
        blocks_(function, request),
        uses_(program, function, liveness) {}

  std::vector<Edit> run(const std::vector<BufferIndex>& live) {
    for (BufferIndex buffer : live) {
      if (const std::optional<ValueId> value = value_at_step(buffer)) {
        add_edits_of_lifespan(buffer, *value);
        add_reuse(buffer, *value);
      }
      add_moves(buffer);
    }
    return std::move(edits_);
  }

 private:
  // The value that the buffer holds when the step begins. None for scratch memory and results of
  // the step.
  std::optional<ValueId> value_at_step(BufferIndex buffer) const {
    std::optional<ValueId> value;
    int64_t last = -1;
    for (ValueId id : uses_.values_of(buffer)) {
      const BufferUses::Uses& uses = uses_.of_value(id);
      if (function_.values[id].is_view() || uses.writes.empty() || uses.writes.front() >= step_ ||
          uses.writes.front() < last)
        continue;
      last = uses.writes.front();
      value = id;
    }
    return value;
  }

  bool is_made_once(ValueId root) const {
    const Value& value = function_.values[root];
    return value.origin != ValueOrigin::kStep ||
           (uses_.of_value(root).writes.size() == 1 && !value.swap_partner);
  }

  // Whether another position of the step does not change its results: it has no side effects, and
  // each of its values is written once.
  bool is_movable(int64_t at) const {
    const Step& step = function_.steps[at];
    if (!step.is<step::Launch, step::Copy>()) return false;
    const auto is_plain = [&](ValueId id) {
      const ValueId root = root_of(function_, id);
      return is_made_once(root) && !function_.values[root].is_list();
    };
    const auto is_part = [&](ValueId id) {
      return function_.values[id].origin == ValueOrigin::kPart;
    };
    return std::ranges::all_of(step.operands, is_plain) &&
           std::ranges::all_of(step.results, is_plain) &&
           std::ranges::none_of(step.results, is_part);
  }

  void add_edits_of_lifespan(BufferIndex buffer, ValueId value) {
    const BufferUses::Uses& uses = uses_.of_value(value);
    if (!uses.is_plain || !is_made_once(value)) return;
    const int64_t made = uses.writes.front();
    const int home = blocks_.of_step[made];
    if (!blocks_.contains(home, step_)) return;
    std::vector<int64_t> later;
    int64_t next = -1;
    bool is_read_before = false;
    for (int64_t read : uses.reads) {
      const Blocks::Access access = blocks_.access_from(home, read);
      if (access.begin > step_) {
        if (next < 0) next = access.begin;
        later.push_back(read);
      } else if (access.end >= step_) {
        return;  // the step itself, or a block that contains it, reads the value
      } else {
        is_read_before = true;
      }
    }
    if (next < 0) return;
    if (is_movable(made)) {
      if (!is_read_before && has_no_other_reads(made, value, next))
        add({.kind = Edit::Kind::kReorder, .value = value, .steps = {made}, .before = next},
            buffer);
      else if (is_cheap(program_, function_.steps[made]))
        add({.kind = Edit::Kind::kRecompute, .value = value, .steps = {made}, .before = next},
            buffer);
    }
    // The first step of the block of `made` that contains the peak.
    add_earlier(buffer, value, later, blocks_.access_from(home, step_).begin);
  }

  // Whether no step before `next` reads a result of `made`.
  bool has_no_other_reads(int64_t made, ValueId value, int64_t next) const {
    return std::ranges::all_of(function_.steps[made].results, [&](ValueId result) {
      const BufferUses::Uses& uses = uses_.of_value(root_of(function_, result));
      return result == value || uses.reads.empty() || uses.reads.front() >= next;
    });
  }

  // Runs the steps that read the value `later` before the step `before`.
  void add_earlier(BufferIndex buffer, ValueId value, const std::vector<int64_t>& later,
                   int64_t before) {
    if (can_run_before(later, before))
      add({.kind = Edit::Kind::kReorder, .value = value, .steps = later, .before = before}, buffer);
  }

  // Whether the operands of the steps are computed before the step `before`, or by steps before
  // them in the list.
  bool can_run_before(const std::vector<int64_t>& steps, int64_t before) const {
    for (int64_t at : steps) {
      if (!is_movable(at) || blocks_.of_step[at] != blocks_.of_step[before]) return false;
      for (ValueId operand : function_.steps[at].operands) {
        const ValueId root = root_of(function_, operand);
        if (function_.values[root].origin != ValueOrigin::kStep) continue;
        const int64_t made = uses_.of_value(root).writes.front();
        const bool is_moved = std::ranges::binary_search(steps, made) && made < at;
        if (made >= before && !is_moved) return false;
      }
      // A view that a later segment defines, or a dim that a Read defines, would be unknown.
      for (ValueId id : function_.steps[at].results)
        if (liveness_.buffer_of_value[id] &&
            liveness_.buffers[*liveness_.buffer_of_value[id]].segment > SegmentIndex{0})
          return false;
      if (needs_runtime_symbols(function_.steps[at])) return false;
    }
    return true;
  }

  static bool is_runtime(DimExpr expr) {
    return std::ranges::any_of(expr.symbols(), [](const std::string& symbol) {
      return symbol != kThreadsSymbol && symbol.starts_with('$');
    });
  }
  bool needs_runtime_symbols(const Step& step) const {
    const auto has_runtime_dim = [&](ValueId id) {
      return std::ranges::any_of(function_.values[id].shape, is_runtime);
    };
    return std::ranges::any_of(step.expressions(), is_runtime) ||
           std::ranges::any_of(step.operands, has_runtime_dim) ||
           std::ranges::any_of(step.results, has_runtime_dim);
  }

  // A kernel may store the value in place of an operand, but other steps read the operand later.
  void add_reuse(BufferIndex buffer, ValueId value) {
    const BufferUses::Uses& uses = uses_.of_value(value);
    if (!is_made_once(value)) return;
    const int64_t made = uses.writes.front();
    const auto* launch = function_.steps[made].as<step::Launch>();
    if (!launch || liveness_.buffers[buffer].lower != made) return;
    const Step& step = function_.steps[made];
    for (const step::Launch::InPlace& permission : launch->in_place) {
      if (step.results[permission.result] != value) continue;
      const ValueId operand = root_of(function_, step.operands[permission.operand]);
      const std::optional<BufferIndex> other = liveness_.buffer_of_value[operand];
      const Value& a = function_.values[operand];
      const Value& b = function_.values[value];
      if (!other || other == buffer || a.place != b.place || a.bytes() != b.bytes()) continue;
      std::vector<int64_t> later;
      for (int64_t read : uses_.of_value(operand).reads)
        if (read > made) later.push_back(read);
      if (later.empty() || !is_made_once(operand)) continue;
      add({.kind = Edit::Kind::kReuse, .value = value, .operand = operand, .steps = later}, buffer);
      if (can_run_before(later, made))
        add({.kind = Edit::Kind::kReorder, .value = operand, .steps = later, .before = made},
            *other);
    }
  }

  void add_moves(BufferIndex buffer) {
    const Machine& machine = program_.machine;
    const PoolIndex from = liveness_.buffers[buffer].pool;
    const std::optional<std::vector<int64_t>> accesses = uses_.accesses_if_free(buffer);
    if (!accesses || machine.pools[from].kind == PoolKind::kStack) return;
    const auto& values = uses_.values_of(buffer);
    for (PoolIndex to : machine.pools.indices()) {
      if (!is_other_memory(from, to) || !uses_.may_use(*accesses, to)) continue;
      Edit edit{.kind = Edit::Kind::kMove, .pool = to};
      if (!values.empty()) edit.value = values.front();
      add(edit, buffer);
    }
  }

  // Whether a buffer in `to` does not need the memory of `from`. Both default pools of a device are
  // its memory if they have no limits.
  bool is_other_memory(PoolIndex from, PoolIndex to) const {
    const Machine& machine = program_.machine;
    const Pool &a = machine.pools[from], &b = machine.pools[to];
    if (to == from || (b.kind != PoolKind::kHeap && b.kind != PoolKind::kArena)) return false;
    const auto is_default = [&](PoolIndex pool) {
      const DeviceIndex device = machine.pools[pool].device;
      return pool == machine.global_pool(device) || pool == machine.workspace_pool(device);
    };
    return a.device != b.device || a.limit || b.limit || !is_default(from) || !is_default(to);
  }

  void add(Edit edit, BufferIndex buffer) {
    edit.buffer = buffer;
    // Another order of the steps can release several buffers.
    const auto is_equal = [&](const Edit& other) {
      return other.kind == Edit::Kind::kReorder && other.steps == edit.steps &&
             other.before == edit.before;
    };
    if (edit.kind == Edit::Kind::kReorder && std::ranges::any_of(edits_, is_equal)) return;
    edits_.push_back(std::move(edit));
  }

  const Program& program_;
  const Function& function_;
  const Liveness& liveness_;
  const int64_t step_;
  const Blocks blocks_;
  const BufferUses uses_;
  std::vector<Edit> edits_;
};

}  // namespace

std::vector<Edit> find_edits(const Program& program, const Function& function,
                             const Liveness& liveness, const std::vector<BufferIndex>& live,
                             int64_t step, const Request& request) {
  return EditFinder(program, function, liveness, step, request).run(live);
}

}  // namespace scopevm::compiler::memory
