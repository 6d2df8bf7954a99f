// Plans a function: plans at sample dims determine the vertical order of buffers. A buffer's offset
// is then a formula, the largest end of the buffers below it. On the public models, the height
// meets the lower bound also at dims that are not samples (measured; docs/memory.md).
#include "compiler/memory/plan.h"

#include <algorithm>
#include <ranges>

#include "compiler/memory/layers.h"
#include "compiler/memory/samples.h"

namespace scopevm::compiler::memory {
namespace {

using ValueIndex = ShapeProgram::ValueIndex;

constexpr int kRandomRequests = 384;
// Plans are validated at fewer requests: that takes longer than to evaluate them.
constexpr int kValidatedRequests = 48;

// The lifespans of buffers, with their offsets aligned as the pool requires. Without sizes.
plan::Problem problem_of(const Machine& machine, const Liveness& liveness, const Arena& arena) {
  plan::Problem problem;
  for (const BufferIndex index : arena.buffers) {
    const Liveness::Lifespan& lifespan = liveness.buffers[index];
    problem.buffers.push_back({.id = std::to_string(index.value),
                               .lifespans = {{lifespan.lower, lifespan.upper}},
                               .alignment = machine.pools[arena.pool].alignment});
  }
  return problem;
}

// Plans the buffers of one arena.
class ArenaPlanner {
 public:
  ArenaPlanner(const Machine& machine, const Function& function, ShapeProgram& shapes, Plan& plan,
               Arena arena)
      : machine_(machine),
        function_(function),
        shapes_(shapes),
        plan_(plan),
        arena_(std::move(arena)) {
    for (BufferIndex buffer : arena_.buffers)
      sizes_.push_back(shapes_.value(plan_.liveness.buffers[buffer].bytes));
  }

  Result<Arena> run(const std::vector<Request>& samples) {
    std::vector<std::vector<int64_t>> sizes;
    for (const Request& request : samples)
      if (auto at_sample = sizes_at(plan_.liveness, arena_.buffers, request))
        sizes.push_back(*std::move(at_sample));
    if (sizes.empty())
      return Status(StatusCode::kInvalidModel, "tensor sizes overflow at the sample dims");
    plan::Problem problem = problem_of(machine_, plan_.liveness, arena_);
    SCOPEVM_ASSIGN_OR_RETURN(const std::vector<Layers> layers, choose_layers(problem, sizes));
    Formulas lowest = formulas_of(layers.front());
    for (const Layers& others : layers | std::views::drop(1))
      lowest = lower_of(lowest, formulas_of(others));
    for (size_t i = 0; i < sizes_.size(); ++i) plan_.offsets[arena_.buffers[i]] = lowest.offsets[i];
    arena_.height = lowest.height;
    make_lower_bound();
    return std::move(arena_);
  }

 private:
  // A plan for all dims. Offsets are by position in the arena's buffers.
  struct Formulas {
    std::vector<ValueIndex> offsets;
    ValueIndex height;
  };

  Formulas formulas_of(const Layers& layers) {
    Formulas formulas{std::vector(sizes_.size(), shapes_.constant(0)), shapes_.constant(0)};
    std::vector<bool> is_below(sizes_.size());
    for (int i : layers.order) {
      formulas.offsets[i] = largest_end(formulas.offsets, layers.below[i]);
      for (int other : layers.below[i]) is_below[other] = true;
    }
    std::vector<int> tops;
    for (int i : layers.order)
      if (!is_below[i]) tops.push_back(i);
    formulas.height = largest_end(formulas.offsets, tops);
    return formulas;
  }

  // The largest end of some buffers; 0 if there are none. Of buffers with one offset, those whose
  // size another one's is proved to be at least are omitted.
  ValueIndex largest_end(const std::vector<ValueIndex>& offsets, std::span<const int> buffers) {
    std::vector<int> kept;
    const auto is_covered = [&](int i, int by) {
      return offsets[i] == offsets[by] && is_never_negative(bytes_of(by) - bytes_of(i));
    };
    for (int i : buffers) {
      if (std::ranges::any_of(kept, [&](int other) { return is_covered(i, other); })) continue;
      std::erase_if(kept, [&](int other) { return is_covered(other, i); });
      kept.push_back(i);
    }
    std::vector<ValueIndex> ends;
    for (int i : kept) ends.push_back(shapes_.add(offsets[i], sizes_[i]));
    return largest(ends);
  }

  // 0 if there are no values.
  ValueIndex largest(std::span<const ValueIndex> values) {
    if (values.empty()) return shapes_.constant(0);
    ValueIndex most = values.front();
    for (const ValueIndex value : values.subspan(1)) most = shapes_.max(most, value);
    return most;
  }

  DimExpr bytes_of(int i) const { return plan_.liveness.buffers[arena_.buffers[i]].bytes; }

  // The plan of smaller height at the dims of each request; `a` if the heights are equal.
  Formulas lower_of(const Formulas& a, const Formulas& b) {
    const ValueIndex excess = difference(a.height, b.height);
    const ValueIndex is_b =
        shapes_.min(shapes_.constant(1), shapes_.max(shapes_.constant(0), excess));
    Formulas lower{.height = shapes_.min(a.height, b.height)};
    for (size_t i = 0; i < sizes_.size(); ++i)
      lower.offsets.push_back(shapes_.add(
          a.offsets[i], shapes_.multiply(is_b, difference(b.offsets[i], a.offsets[i]))));
    return lower;
  }

  ValueIndex difference(ValueIndex a, ValueIndex b) {
    return shapes_.add(a, shapes_.multiply(shapes_.constant(-1), b));
  }

  // The lower bound is the maximum of the live bytes over all steps. Live sets that are contained
  // in the previous or next one are omitted to keep the formula short.
  void make_lower_bound() {
    std::vector<std::vector<int>> peaks;
    for (int64_t step = 0; step < static_cast<int64_t>(function_.steps.size()); ++step) {
      std::vector<int> live;
      for (size_t i = 0; i < arena_.buffers.size(); ++i) {
        const Liveness::Lifespan& lifespan = plan_.liveness.buffers[arena_.buffers[i]];
        if (lifespan.lower <= step && step < lifespan.upper) live.push_back(static_cast<int>(i));
      }
      if (!peaks.empty() &&
          std::includes(live.begin(), live.end(), peaks.back().begin(), peaks.back().end()))
        peaks.pop_back();
      else if (!peaks.empty() &&
               std::includes(peaks.back().begin(), peaks.back().end(), live.begin(), live.end()))
        continue;
      peaks.push_back(std::move(live));
    }
    std::vector<ValueIndex> sums;
    for (const std::vector<int>& live : peaks) {
      sums.push_back(shapes_.constant(0));
      for (int i : live) sums.back() = shapes_.add(sums.back(), sizes_[i]);
    }
    arena_.lower_bound = largest(sums);
  }

  const Machine& machine_;
  const Function& function_;
  ShapeProgram& shapes_;
  Plan& plan_;
  Arena arena_;
  std::vector<ValueIndex> sizes_;  // by position in arena_.buffers
};

// Guards against a defect of the planner: the formulas must be valid at all dims.
Status validate_at_samples(const Machine& machine, const Function& function,
                           const ShapeProgram& shapes, const Plan& plan,
                           const std::vector<Request>& samples) {
  for (const Request& request : samples) {
    for (const Arena& arena : plan.arenas) {
      const auto placed = plan.at(machine, arena, shapes, request.symbols, request.threads);
      if (!placed) continue;  // a call with such dims fails an overflow check
      Status status = plan::validate(placed->problem, placed->plan);
      if (status.code() == StatusCode::kInvalidArgument)
        status = Status(StatusCode::kInternal, std::string(status.message()));
      if (!status.ok()) return std::move(status).with_context("memory plan of " + function.name);
    }
  }
  return {};
}

}  // namespace

std::optional<PlacedArena> Plan::at(const Machine& machine, const Arena& arena,
                                    const ShapeProgram& shapes,
                                    const std::map<std::string, int64_t>& symbols,
                                    int64_t threads) const {
  const std::optional<ShapeProgram::Values> values = shapes.evaluate(symbols, threads);
  const auto sizes = sizes_at(liveness, arena.buffers, {symbols, threads});
  if (!values || !sizes) return std::nullopt;
  PlacedArena placed{.problem = problem_of(machine, liveness, arena)};
  for (size_t i = 0; i < sizes->size(); ++i) {
    placed.problem.buffers[i].size = (*sizes)[i];
    placed.plan.offsets.push_back((*values)[offsets[arena.buffers[i]]]);
  }
  placed.plan.pools.resize(sizes->size());
  placed.plan.height = (*values)[arena.height];
  placed.plan.lower_bound = (*values)[arena.lower_bound];
  return placed;
}

Result<Plan> make_plan(const Machine& machine, const Function& function, ShapeProgram& shapes) {
  const std::vector<Request> samples = sample_requests(function, kRandomRequests);
  Plan plan;
  plan.liveness = find_lifespans(machine, function);
  plan.offsets.assign(plan.liveness.buffers.size(), shapes.constant(0));
  plan.arena_of_buffer.resize(plan.liveness.buffers.size());
  std::map<std::pair<SegmentIndex, PoolIndex>, std::vector<BufferIndex>> members;
  for (BufferIndex buffer : plan.liveness.buffers.indices()) {
    const Liveness::Lifespan& lifespan = plan.liveness.buffers[buffer];
    // A storage is allocated when its segment begins, so it holds only buffers whose sizes are
    // known then.
    members[{lifespan.segment, lifespan.pool}].push_back(buffer);
  }
  for (auto& [key, buffers] : members) {
    for (BufferIndex buffer : buffers) plan.arena_of_buffer[buffer] = plan.arenas.next_index();
    Arena arena{.segment = key.first, .pool = key.second, .buffers = std::move(buffers)};
    SCOPEVM_ASSIGN_OR_RETURN(
        arena, ArenaPlanner(machine, function, shapes, plan, std::move(arena)).run(samples));
    plan.arenas.push_back(std::move(arena));
  }
  SCOPEVM_RETURN_IF_ERROR(validate_at_samples(machine, function, shapes, plan,
                                              sample_requests(function, kValidatedRequests)));
  return plan;
}

}  // namespace scopevm::compiler::memory
