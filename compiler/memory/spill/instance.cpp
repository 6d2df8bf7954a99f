// Translates a function's steps into a SpillProblem. It contains the buffers of a pool, the other
// pools that could store them, and the gaps between the uses of their values. Costs are computed
// from the machine's bandwidths and latencies.
#include <algorithm>

#include "compiler/memory/blocks.h"
#include "compiler/memory/spill/spill.h"
#include "compiler/memory/uses.h"

namespace scopevm::compiler::memory {
namespace {

class InstanceReader {
 public:
  InstanceReader(const Program& program, const Function& function, PoolIndex pool,
                 const PoolBytes& room, const PoolBytes& fixed, const Request& request)
      : machine_(program.machine),
        function_(function),
        pool_(pool),
        room_(room),
        fixed_(fixed),
        blocks_(function, request),
        instance_{.liveness = find_lifespans(machine_, function)},
        uses_(program, function, instance_.liveness) {
    read_sizes(request);
  }

  SpillInstance run() {
    SpillProblem& problem = instance_.problem;
    problem.steps = static_cast<int64_t>(function_.steps.size());
    problem.room = room_.at(pool_) - bytes_in(fixed_, pool_);
    // Pools without a limit have no entry in problem.elsewhere. Their room is unlimited.
    make_room_elsewhere();
    for (BufferIndex buffer : sizes_.indices())
      if (instance_.liveness.buffers[buffer].pool == pool_ && sizes_[buffer] > 0) add_item(buffer);
    instance_.live.assign(problem.steps, bytes_in(fixed_, pool_));
    for (const SpillItem& item : problem.items)
      for (int64_t step = item.lower; step < item.upper; ++step) instance_.live[step] += item.bytes;
    return std::move(instance_);
  }

 private:
  // Reads the sizes that are known before the call. Buffers of data-dependent size are ignored
  // here, because the session enforces the limits for them at run time.
  void read_sizes(const Request& request) {
    std::vector<BufferIndex> known;
    for (BufferIndex buffer : instance_.liveness.buffers.indices())
      if (instance_.liveness.buffers[buffer].segment == SegmentIndex{0}) known.push_back(buffer);
    sizes_.assign(instance_.liveness.buffers.size(), 0);
    if (const auto sizes = sizes_at(instance_.liveness, known, request))
      for (size_t i = 0; i < known.size(); ++i) sizes_[known[i]] = (*sizes)[i];
  }

  const Liveness::Lifespan& lifespan_of(BufferIndex buffer) const {
    return instance_.liveness.buffers[buffer];
  }

  bool is_candidate(PoolIndex pool) const {
    const PoolKind kind = machine_.pools[pool].kind;
    return pool != pool_ && machine_.pools[pool].may_be_chosen &&
           (kind == PoolKind::kHeap || kind == PoolKind::kArena);
  }

  // Computes the room that other limited pools have left at each step.
  void make_room_elsewhere() {
    for (const auto& [pool, room] : room_) {
      if (!is_candidate(pool)) continue;
      std::vector<int64_t> left(instance_.problem.steps, room - bytes_in(fixed_, pool));
      for (BufferIndex b : sizes_.indices())
        if (instance_.liveness.buffers[b].pool == pool)
          for (int64_t step = lifespan_of(b).lower; step < lifespan_of(b).upper; ++step)
            left[step] -= sizes_[b];
      instance_.problem.elsewhere[pool] = std::move(left);
    }
  }

  void add_item(BufferIndex buffer) {
    SpillItem& item = instance_.problem.items.emplace_back();
    item = {sizes_[buffer], lifespan_of(buffer).lower, lifespan_of(buffer).upper, {}, {}};
    instance_.buffers.push_back(buffer);
    std::vector<ValueId>& values = instance_.values.emplace_back();
    add_moves(item, buffer);
    for (ValueId id : uses_.values_of(buffer))
      // Each value of the buffer is spilled separately, because values that share the buffer in
      // place have different gaps.
      if (SpillItem::Value held; find_gaps(id, held)) {
        add_destinations(id, sizes_[buffer], held);
        if (held.destinations.empty()) continue;
        item.values.push_back(std::move(held));
        values.push_back(id);
      }
  }

  // Each access of a moved buffer transfers its bytes at the speed of the new pool. The cost is the
  // additional time.
  void add_moves(SpillItem& item, BufferIndex buffer) {
    const std::optional<std::vector<int64_t>> steps = uses_.accesses_if_free(buffer);
    if (!steps) return;
    double accesses = 0;
    for (int64_t at : *steps) accesses += blocks_.times_of_step(at);
    for (PoolIndex pool : machine_.pools.indices()) {
      if (!is_candidate(pool) || !uses_.may_use(*steps, pool)) continue;
      // A faster pool costs 0 rather than a negative amount, because the lower bounds assume
      // nonnegative costs.
      const auto bytes = static_cast<double>(item.bytes);
      const double slower =
          machine_.pools[pool].access_seconds(bytes) - machine_.pools[pool_].access_seconds(bytes);
      item.moves.push_back({pool, accesses * std::max(slower, 0.0)});
    }
  }

  // Finds the gaps between the accesses of a value. Returns false if there are none, or if the
  // value cannot be spilled.
  bool find_gaps(ValueId id, SpillItem::Value& held) const {
    const BufferUses::Uses& uses = uses_.of_value(id);
    const Value& value = function_.values[id];
    // A second write would make the spilled copy stale. A swap exchanges the registers of two
    // buffers, so that a copy would be restored to the wrong buffer.
    if (!uses.is_plain || uses.writes.size() != 1 || value.swap_partner) return false;
    held.made = uses.writes[0];
    held.times = blocks_.times_of_step(held.made);
    const int home = blocks_.of_step[held.made];
    std::vector<Blocks::Access> accesses = {{held.made, held.made}};
    for (int64_t read : uses.reads) accesses.push_back(blocks_.access_from(home, read));
    std::ranges::sort(accesses, {}, &Blocks::Access::begin);
    int64_t end = held.made;
    // Accesses can overlap, because a use inside a block extends over the whole block.
    for (const Blocks::Access& access : accesses) {
      if (access.begin > end + 1) held.gaps.push_back({end + 1, access.begin});
      end = std::max(end, access.end);
    }
    return !held.gaps.empty();
  }

  void add_destinations(ValueId id, int64_t bytes, SpillItem::Value& held) const {
    const double size = static_cast<double>(bytes);
    for (PoolIndex pool : machine_.pools.indices()) {
      // String elements are ids of the call's string table, which only the CPU can access.
      if (!is_candidate(pool) || function_.values[id].dtype == DType::kStr) continue;
      held.destinations.push_back({pool, machine_.copy_seconds(pool_, pool, size) * held.times,
                                   machine_.copy_seconds(pool, pool_, size) * held.times});
    }
  }

  const Machine& machine_;
  const Function& function_;
  const PoolIndex pool_;
  const PoolBytes& room_;
  const PoolBytes& fixed_;
  const Blocks blocks_;
  SpillInstance instance_;
  const BufferUses uses_;
  IndexedVector<BufferIndex, int64_t> sizes_;  // bytes; 0 for data-dependent sizes
};

}  // namespace

SpillInstance read_instance(const Program& program, const Function& function, PoolIndex pool,
                            const PoolBytes& room, const PoolBytes& fixed, const Request& request) {
  return InstanceReader(program, function, pool, room, fixed, request).run();
}

}  // namespace scopevm::compiler::memory
