// Plans a function: first fit at sample dims decides who lies above whom; a buffer's offset is then
// the largest end of the buffers below it, as a formula. On real graphs that meets the lower bound
// at shapes it was not planned for (measured; see docs/memory.md).
#include "compiler/memory/plan.h"

#include <algorithm>

#include "compiler/memory/samples.h"

namespace scopevm::memory {
namespace {

using ValueIndex = ShapeProgram::ValueIndex;

class Planner {
 public:
  Planner(const Function& function, ShapeProgram& shapes)
      : function_(function), shapes_(shapes), samples_(sample_requests(function)) {}

  Result<Plan> run() {
    plan_.liveness = find_lifespans(function_);
    SCOPEVM_RETURN_IF_ERROR(choose_layers());
    make_offsets();
    make_lower_bound();
    SCOPEVM_RETURN_IF_ERROR(validate_at_samples());
    return std::move(plan_);
  }

 private:
  // Every order at every sample gives layers; their worst height over lower bound at any sample is
  // what counts.
  Status choose_layers() {
    std::vector<std::vector<Buffer>> at_samples;
    for (const Request& request : samples_) {
      std::optional<std::vector<Buffer>> buffers = buffers_at(plan_.liveness, request);
      if (buffers) at_samples.push_back(std::move(*buffers));
    }
    if (at_samples.empty())
      return Status(StatusCode::kInvalidModel,
                    "the sizes of its tensors overflow at the dims that the plan is made for");
    double best = 0;
    for (const std::vector<Buffer>& buffers : at_samples)
      for (const std::vector<int>& order : placement_orders(buffers)) {
        std::vector<Buffer> placed = buffers;
        place_first_fit(placed, order);
        Layers layers = layers_of(placed);
        double ratio = worst_ratio(layers, at_samples);
        if (best != 0 && ratio >= best) continue;
        best = ratio;
        plan_.layers = std::move(layers);
        if (best == 1) return {};
      }
    return {};
  }

  static double worst_ratio(const Layers& layers, std::vector<std::vector<Buffer>>& at_samples) {
    double worst = 1;
    for (std::vector<Buffer>& buffers : at_samples) {
      place_by_layers(layers, buffers);
      int64_t bound = lower_bound_of(buffers);
      if (bound > 0)
        worst =
            std::max(worst, static_cast<double>(height_of(buffers)) / static_cast<double>(bound));
    }
    return worst;
  }

  void make_offsets() {
    for (const Liveness::Lifespan& lifespan : plan_.liveness.buffers)
      sizes_.push_back(shapes_.value(lifespan.bytes));
    plan_.offsets.assign(sizes_.size(), shapes_.constant(0));
    plan_.height = shapes_.constant(0);
    for (int buffer : plan_.layers.order) {
      ValueIndex offset = shapes_.constant(0);
      for (int other : plan_.layers.below[buffer]) offset = shapes_.max(offset, end_of(other));
      plan_.offsets[buffer] = offset;
      plan_.height = shapes_.max(plan_.height, end_of(buffer));
    }
  }

  ValueIndex end_of(int buffer) { return shapes_.add(plan_.offsets[buffer], sizes_[buffer]); }

  // Only times at which something is born can be the peak.
  void make_lower_bound() {
    plan_.lower_bound = shapes_.constant(0);
    const std::vector<Liveness::Lifespan>& lifespans = plan_.liveness.buffers;
    std::vector<std::vector<int>> peaks;
    for (int64_t step = 0; step < static_cast<int64_t>(function_.steps.size()); ++step) {
      std::vector<int> live;
      for (size_t i = 0; i < lifespans.size(); ++i)
        if (lifespans[i].lower <= step && step < lifespans[i].upper)
          live.push_back(static_cast<int>(i));
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
      for (int buffer : live) sum = shapes_.add(sum, sizes_[buffer]);
      plan_.lower_bound = shapes_.max(plan_.lower_bound, sum);
    }
  }

  // The layers were chosen at some shapes; the formulas must hold at any.
  Status validate_at_samples() {
    for (const Request& request : samples_) {
      std::optional<std::vector<int64_t>> values =
          shapes_.evaluate(request.symbols, request.threads);
      if (!values) continue;  // the request's own overflow check covers it
      Status status = validate(plan_.at(shapes_, request.symbols, request.threads),
                               (*values)[plan_.height], kAlignment);
      SCOPEVM_RETURN_IF_ERROR(std::move(status).with_context(function_.name));
    }
    return {};
  }

  const Function& function_;
  ShapeProgram& shapes_;
  std::vector<Request> samples_;
  Plan plan_;
  std::vector<ValueIndex> sizes_;
};

}  // namespace

std::vector<Buffer> Plan::at(const ShapeProgram& shapes,
                             const std::map<std::string, int64_t>& symbols, int64_t threads) const {
  std::optional<std::vector<int64_t>> values = shapes.evaluate(symbols, threads);
  std::optional<std::vector<Buffer>> buffers = buffers_at(liveness, {symbols, threads});
  if (!values || !buffers) return {};
  for (Buffer& buffer : *buffers) buffer.offset = (*values)[offsets[buffer.id]];
  return *std::move(buffers);
}

std::optional<DimExpr> Plan::height_formula() const {
  constexpr size_t kLongest = 400;  // characters; beyond that nobody reads on
  std::vector<DimExpr> ends(liveness.buffers.size());
  DimExpr height = 0;
  for (int buffer : layers.order) {
    DimExpr offset = 0;
    for (int other : layers.below[buffer]) offset = max(offset, ends[other]);
    ends[buffer] = offset + liveness.buffers[buffer].bytes;
    height = max(height, ends[buffer]);
    if (height.str().size() > kLongest || ends[buffer].str().size() > kLongest) return std::nullopt;
  }
  return height;
}

Result<Plan> plan(const Function& function, ShapeProgram& shapes) {
  return Planner(function, shapes).run();
}

}  // namespace scopevm::memory
