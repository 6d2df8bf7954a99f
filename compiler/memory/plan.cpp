// Plans a function: first fit at sample dims determines the vertical order of buffers. A buffer's
// offset is then a formula, the largest end of the buffers below it. On the public models, the
// height meets the lower bound also at dims that are not samples (measured; docs/memory.md).
#include "compiler/memory/plan.h"

#include <algorithm>
#include <limits>

#include "compiler/memory/samples.h"

namespace scopevm::compiler::memory {
namespace {

using ValueIndex = ShapeProgram::ValueIndex;

// Plans the buffers of one arena.
class ArenaPlanner {
 public:
  ArenaPlanner(const Function& function, ShapeProgram& shapes, const std::vector<Request>& samples,
               Plan& plan, Arena arena)
      : function_(function),
        shapes_(shapes),
        samples_(samples),
        plan_(plan),
        arena_(std::move(arena)) {}

  Result<Arena> run() {
    SCOPEVM_RETURN_IF_ERROR(choose_layers());
    make_offsets();
    make_lower_bound();
    return std::move(arena_);
  }

 private:
  // Computes layers for every order at every sample. Keeps the layers whose worst ratio of height
  // to lower bound, over all samples, is least.
  Status choose_layers() {
    std::vector<std::vector<PlannedBuffer>> at_samples;
    for (const Request& request : samples_) {
      std::optional<std::vector<PlannedBuffer>> buffers =
          buffers_at(plan_.liveness, arena_.buffers, request);
      if (buffers) at_samples.push_back(std::move(*buffers));
    }
    if (at_samples.empty())
      return Status(StatusCode::kInvalidModel, "tensor sizes overflow at the sample dims");
    for (const std::vector<PlannedBuffer>& buffers : at_samples)
      for (const std::vector<int>& order : placement_orders(buffers)) {
        try_order(buffers, order, at_samples);
        // The height meets the lower bound at every sample, so no other layers are better.
        if (best_.ratio == 1) return {};
      }
    improve_order(at_samples);
    return {};
  }

  // How well layers fit the samples: the largest ratio of height to lower bound, the sample that
  // has it, and the buffer that is highest there.
  struct Fit {
    double ratio = std::numeric_limits<double>::infinity();
    size_t sample = 0;
    int highest = 0;
    std::vector<int> order;  // the order of first fit
  };

  // Ratios are compared, because the largest sample alone would determine the largest height.
  static Fit fit_of(const Layers& layers, std::vector<std::vector<PlannedBuffer>>& at_samples) {
    Fit fit{.ratio = 1};
    for (size_t s = 0; s < at_samples.size(); ++s) {
      std::vector<PlannedBuffer>& buffers = at_samples[s];
      place_by_layers(layers, buffers);
      const int64_t bound = lower_bound_of(buffers);
      if (bound == 0) continue;
      const auto highest = std::ranges::max_element(
          buffers, {}, [](const PlannedBuffer& b) { return *b.offset + b.size; });
      const double ratio =
          static_cast<double>(*highest->offset + highest->size) / static_cast<double>(bound);
      if (ratio > fit.ratio) fit = {ratio, s, static_cast<int>(highest - buffers.begin()), {}};
    }
    return fit;
  }

  // Places the buffers of a sample in this order. Keeps the layers if they are the best so far.
  Fit try_order(std::vector<PlannedBuffer> placed, const std::vector<int>& order,
                std::vector<std::vector<PlannedBuffer>>& at_samples) {
    place_first_fit(placed, order);
    Layers layers = layers_of(placed);
    Fit fit = fit_of(layers, at_samples);
    fit.order = order;
    if (fit.ratio < best_.ratio) {
      best_ = fit;
      arena_.layers = std::move(layers);
    }
    return fit;
  }

  // Places the buffer that is highest where the layers fit worst before all others, repeatedly.
  void improve_order(std::vector<std::vector<PlannedBuffer>>& at_samples) {
    // A trial compares all pairs of buffers. A plan of 200 buffers has 100 trials, one of 2000
    // has 1.
    constexpr size_t kMostTrials = 100, kMostPairs = size_t{1} << 22;
    const size_t count = arena_.buffers.size();
    const size_t trials = std::min(kMostTrials, kMostPairs / std::max<size_t>(count * count, 1));
    Fit fit = best_;
    for (size_t trial = 0; trial < trials && best_.ratio > 1; ++trial) {
      const auto highest = std::ranges::find(fit.order, fit.highest);
      std::rotate(fit.order.begin(), highest, highest + 1);
      fit = try_order(at_samples[fit.sample], fit.order, at_samples);
    }
  }

  void make_offsets() {
    for (BufferIndex buffer : arena_.buffers)
      sizes_.push_back(shapes_.value(plan_.liveness.buffers[buffer].bytes));
    offsets_.assign(sizes_.size(), shapes_.constant(0));
    arena_.height = shapes_.constant(0);
    for (int i : arena_.layers.order) {
      ValueIndex offset = shapes_.constant(0);
      for (int other : arena_.layers.below[i]) offset = shapes_.max(offset, end_of(other));
      offsets_[i] = offset;
      arena_.height = shapes_.max(arena_.height, end_of(i));
    }
    for (size_t i = 0; i < offsets_.size(); ++i) plan_.offsets[arena_.buffers[i]] = offsets_[i];
  }

  ValueIndex end_of(int i) { return shapes_.add(offsets_[i], sizes_[i]); }

  // The lower bound is the maximum of the live bytes over all steps. Live sets that are contained
  // in the previous or next one are omitted to keep the formula short.
  void make_lower_bound() {
    arena_.lower_bound = shapes_.constant(0);
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
    for (const std::vector<int>& live : peaks) {
      ValueIndex sum = shapes_.constant(0);
      for (int i : live) sum = shapes_.add(sum, sizes_[i]);
      arena_.lower_bound = shapes_.max(arena_.lower_bound, sum);
    }
  }

  const Function& function_;
  ShapeProgram& shapes_;
  const std::vector<Request>& samples_;
  Plan& plan_;
  Arena arena_;
  Fit best_;
  std::vector<ValueIndex> sizes_;    // by position in arena_.buffers
  std::vector<ValueIndex> offsets_;  // by position in arena_.buffers
};

// Guards against a defect of the planner: the formulas must be valid at all dims.
Status validate_at_samples(const Machine& machine, const Function& function,
                           const ShapeProgram& shapes, const Plan& plan,
                           const std::vector<Request>& samples) {
  for (const Request& request : samples) {
    std::optional<ShapeProgram::Values> values = shapes.evaluate(request.symbols, request.threads);
    if (!values) continue;  // a call with such dims fails an overflow check
    for (const Arena& arena : plan.arenas) {
      Status status = validate(plan.at(arena, shapes, request.symbols, request.threads),
                               (*values)[arena.height], machine.pools[arena.pool].alignment);
      SCOPEVM_RETURN_IF_ERROR(std::move(status).with_context(function.name));
    }
  }
  return {};
}

}  // namespace

std::vector<PlannedBuffer> Plan::at(const Arena& arena, const ShapeProgram& shapes,
                                    const std::map<std::string, int64_t>& symbols,
                                    int64_t threads) const {
  std::optional<ShapeProgram::Values> values = shapes.evaluate(symbols, threads);
  std::optional<std::vector<PlannedBuffer>> buffers =
      buffers_at(liveness, arena.buffers, {symbols, threads});
  if (!values || !buffers) return {};
  for (PlannedBuffer& buffer : *buffers)
    buffer.offset = (*values)[offsets[{static_cast<uint32_t>(buffer.id)}]];
  return *std::move(buffers);
}

Result<Plan> plan(const Machine& machine, const Function& function, ShapeProgram& shapes) {
  const std::vector<Request> samples = sample_requests(function);
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
    SCOPEVM_ASSIGN_OR_RETURN(arena,
                             ArenaPlanner(function, shapes, samples, plan, std::move(arena)).run());
    plan.arenas.push_back(std::move(arena));
  }
  SCOPEVM_RETURN_IF_ERROR(validate_at_samples(machine, function, shapes, plan, samples));
  return plan;
}

}  // namespace scopevm::compiler::memory
