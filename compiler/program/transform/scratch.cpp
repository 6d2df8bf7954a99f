// Moves scratch memory of kernels, such as packed operands of a matrix product, from the workspace
// into a faster arena. No constraint applies to scratch memory, because the graph cannot name it.
//
// An arena with a limit is used only as far as its limit cannot be exceeded for any dims, with the
// planned number of threads: a described pool must not make a request fail.
#include "compiler/program/transform/scratch.h"

#include <algorithm>
#include <map>
#include <optional>
#include <vector>

#include "compiler/memory/uses.h"
#include "compiler/program/call_graph.h"

namespace scopevm::compiler::transform {
namespace {

using memory::BufferIndex;
using memory::Liveness;

class ScratchMover {
 public:
  explicit ScratchMover(Program& program) : program_(program), machine_(program.machine) {}

  void run() {
    find_room();
    for (Function& function : program_.functions) move_scratch(function);
  }

 private:
  // The most bytes over all dims.
  int64_t most(DimExpr bytes) const {
    const DimExpr threads(machine_.devices[machine_.host_device()].workers);
    const DimExpr planned = bytes.substitute([&](std::string_view name) {
      return name == kThreadsSymbol ? std::optional(threads) : std::nullopt;
    });
    return interval_of(planned).max;
  }

  // The bytes of each arena that constants, values and other buffers never take.
  void find_room() {
    const CallGraph calls(program_);
    // A recursive function holds its buffers once per active call.
    const bool is_recursive = std::ranges::any_of(
        program_.functions.indices(), [&](FunctionIndex f) { return calls.is_recursive(f); });
    room_.resize(machine_.pools.size());
    for (PoolIndex pool : machine_.pools.indices())
      if (machine_.pools[pool].is_limited())
        room_[pool] = is_recursive ? 0 : *machine_.pools[pool].limit;
    for (const Constant& constant : program_.constants) take(constant.pool, constant.bytes);
    for (const Function& function : program_.functions) {
      const Liveness liveness = memory::find_lifespans(machine_, function);
      for (const Liveness::Lifespan& buffer : liveness.buffers)
        take(buffer.pool, most(buffer.bytes));
      const IndexedVector<ValueId, bool> is_output = output_roots(function);
      for (ValueId id : function.values.indices()) {
        const Value& value = function.values[id];
        if (value.view_of || liveness.buffer_of_value[id]) continue;
        const PoolIndex pool = is_output[id] ? result_pool(machine_, value) : value.place.pool;
        take(pool, value.is_list() ? INT64_MAX
                                   : most(round_up(value.bytes(), machine_.pools[pool].alignment)));
      }
    }
  }

  void take(PoolIndex pool, int64_t bytes) {
    if (room_[pool]) *room_[pool] -= std::min(bytes, *room_[pool]);
  }

  void move_scratch(Function& function) {
    const Liveness liveness = memory::find_lifespans(machine_, function);
    const memory::BufferUses uses(program_, function, liveness);
    std::map<PoolIndex, int64_t> most_of_function;
    for (const std::vector<BufferIndex>& temporaries : liveness.buffer_of_temporary) {
      // Scratch memory is live during one step.
      std::map<PoolIndex, int64_t> of_step;
      for (BufferIndex buffer : temporaries) {
        const int64_t bytes = most(liveness.buffers[buffer].bytes);
        const auto accesses = uses.accesses_if_free(buffer);
        if (!accesses) continue;
        for (PoolIndex pool : faster_arenas(liveness.buffers[buffer].pool)) {
          if (!uses.may_use(*accesses, pool)) continue;
          int64_t& held = most_of_function[pool];
          const int64_t missing = std::max<int64_t>(of_step[pool] - held + bytes, 0);
          if (room_[pool] && (bytes > *machine_.pools[pool].limit || missing > *room_[pool]))
            continue;
          if (room_[pool]) {
            take(pool, missing);
            of_step[pool] += bytes;
            held = std::max(held, of_step[pool]);
          }
          move_buffer(function, liveness, buffer, pool);
          break;
        }
      }
    }
  }

  // Relative cost of scratch memory in the pool: the planned time of one access of a page.
  static double seconds_per_page(const Pool& pool) { return pool.access_seconds(4096); }

  // The arenas that are faster than a workspace, fastest first; none for other pools.
  std::vector<PoolIndex> faster_arenas(PoolIndex workspace) const {
    const Pool& from = machine_.pools[workspace];
    std::vector<PoolIndex> arenas;
    if (workspace != machine_.workspace_pool(from.device)) return arenas;
    for (PoolIndex index : machine_.pools.indices()) {
      const Pool& pool = machine_.pools[index];
      if (pool.kind == PoolKind::kArena && !pool.pinned_for && pool.has_bandwidth() &&
          seconds_per_page(pool) < seconds_per_page(from))
        arenas.push_back(index);
    }
    std::ranges::stable_sort(
        arenas, {}, [&](PoolIndex index) { return seconds_per_page(machine_.pools[index]); });
    return arenas;
  }

  Program& program_;
  const Machine& machine_;
  IndexedVector<PoolIndex, std::optional<int64_t>> room_;  // none: without a limit
};

}  // namespace

void use_fast_scratch(Program& program) { ScratchMover(program).run(); }

}  // namespace scopevm::compiler::transform
