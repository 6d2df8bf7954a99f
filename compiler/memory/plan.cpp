// Plans a function: first fit at representative dims decides who lies above whom; a buffer's offset
// is then the largest end of the buffers below it, as a formula. On real graphs that meets the
// lower bound at shapes it was not planned for (measured; see docs/memory.md).
#include "compiler/memory/plan.h"

#include <algorithm>
#include <numeric>

namespace scopevm::memory {
namespace {

using ValueIndex = ShapeProgram::ValueIndex;

// Plans assume this many workers where the session decides.
constexpr int64_t kRepresentativeThreads = 2;

std::map<std::string, int64_t> representative(const Function& function) {
  std::map<std::string, int64_t> symbols;
  for (const Dimension& dimension : function.dimensions)
    symbols[dimension.name] = dimension.representative;
  return symbols;
}

class Planner {
 public:
  Planner(const Function& function, ShapeProgram& shapes) : function_(function), shapes_(shapes) {}

  Result<Plan> run() {
    plan_.liveness = find_lifespans(function_);
    for (const Liveness::Lifespan& lifespan : plan_.liveness.buffers)
      sizes_.push_back(shapes_.value(lifespan.bytes));
    plan_.offsets.assign(sizes_.size(), shapes_.constant(0));
    std::vector<Buffer> buffers =
        plan_.at(shapes_, representative(function_), kRepresentativeThreads);
    if (buffers.size() != sizes_.size())
      return Status(StatusCode::kInvalidModel,
                    "the sizes of its tensors overflow at the dims that the plan is made for");
    place_best(buffers);
    make_offsets(buffers);
    make_height();
    make_lower_bound();
    SCOPEVM_RETURN_IF_ERROR(validate_at_samples());
    return std::move(plan_);
  }

 private:
  // Buffers in order of offset; of equal offsets (one is empty) the earlier placed first. An offset
  // is the largest end of the conflicting buffers before it; ends that another one covers are left
  // out.
  void make_offsets(const std::vector<Buffer>& buffers) {
    std::vector<int> order(buffers.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](int a, int b) { return buffers[a].offset < buffers[b].offset; });
    auto conflict = [&](int a, int b) {
      return buffers[a].lower < buffers[b].upper && buffers[b].lower < buffers[a].upper;
    };
    for (size_t i = 0; i < order.size(); ++i) {
      std::vector<int> below;
      for (size_t j = i; j-- > 0;) {
        if (!conflict(order[i], order[j])) continue;
        bool is_covered = std::any_of(below.begin(), below.end(),
                                      [&](int higher) { return conflict(higher, order[j]); });
        if (!is_covered) below.push_back(order[j]);
      }
      ValueIndex offset = shapes_.constant(0);
      for (int other : below) offset = shapes_.max(offset, end_of(other));
      plan_.offsets[order[i]] = offset;
    }
  }

  ValueIndex end_of(int buffer) { return shapes_.add(plan_.offsets[buffer], sizes_[buffer]); }

  void make_height() {
    plan_.height = shapes_.constant(0);
    for (size_t i = 0; i < sizes_.size(); ++i)
      plan_.height = shapes_.max(plan_.height, end_of(static_cast<int>(i)));
  }

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

  // The order was chosen at one shape; the formulas must hold at any.
  Status validate_at_samples() {
    for (int64_t scale : {1, 2, 3, 7}) {
      std::map<std::string, int64_t> symbols = representative(function_);
      for (const Dimension& dimension : function_.dimensions) {
        int64_t value = scale == 1   ? dimension.representative
                        : scale == 2 ? dimension.min
                                     : dimension.representative * scale + (scale % 2);
        symbols[dimension.name] = std::clamp(value, dimension.min, dimension.max);
      }
      std::optional<std::vector<int64_t>> values = shapes_.evaluate(symbols, scale);
      if (!values) continue;  // the request's own overflow check covers it
      Status status =
          validate(plan_.at(shapes_, symbols, scale), (*values)[plan_.height], kAlignment);
      SCOPEVM_RETURN_IF_ERROR(std::move(status).with_context(function_.name));
    }
    return {};
  }

  const Function& function_;
  ShapeProgram& shapes_;
  Plan plan_;
  std::vector<ValueIndex> sizes_;
};

}  // namespace

std::vector<Buffer> Plan::at(const ShapeProgram& shapes,
                             const std::map<std::string, int64_t>& symbols, int64_t threads) const {
  std::vector<Buffer> buffers;
  auto with_threads = symbols;
  with_threads[kThreadsSymbol] = threads;
  std::optional<std::vector<int64_t>> values = shapes.evaluate(symbols, threads);
  if (!values) return buffers;
  for (size_t i = 0; i < liveness.buffers.size(); ++i) {
    const Liveness::Lifespan& lifespan = liveness.buffers[i];
    std::optional<int64_t> size =
        lifespan.bytes.evaluate([&](std::string_view name) -> std::optional<int64_t> {
          auto found = with_threads.find(std::string(name));
          return found == with_threads.end() ? std::nullopt : std::optional(found->second);
        });
    if (!size) return {};
    buffers.push_back(
        {static_cast<int>(i), lifespan.lower, lifespan.upper, *size, (*values)[offsets[i]]});
  }
  return buffers;
}

Result<Plan> plan(const Function& function, ShapeProgram& shapes) {
  return Planner(function, shapes).run();
}

}  // namespace scopevm::memory
