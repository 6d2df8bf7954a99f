// Chooses layers by samples; see layers.h. Candidates are the layers of heuristic plans at single
// samples: at one sample, these plans nearly always meet the lower bound, but their layers can be
// too high at others.
#include <algorithm>
#include <limits>
#include <utility>

#include "compiler/memory/layers.h"

namespace scopevm::compiler::memory {
namespace {

constexpr size_t kMostLayers = 8;          // each adds its formulas to the shape function
constexpr double kSufficientRatio = 1.02;  // of the height to the lower bound
constexpr double kInfinity = std::numeric_limits<double>::infinity();

class LayersChoice {
 public:
  LayersChoice(plan::Problem& problem, const std::vector<std::vector<int64_t>>& samples)
      : problem_(problem), samples_(samples) {}

  // Column generation: further candidates are plans at the samples where the best choice of the
  // present ones is worst.
  Result<std::vector<Layers>> run() {
    find_bounds();
    for (size_t i = 0; i < std::min({samples_.size(), kFirstCandidates, most_candidates()}); ++i) {
      SCOPEVM_RETURN_IF_ERROR(add_candidate(i));
      // The height meets the lower bound at every sample, so no other layers are better.
      if (candidates_.back().is_ideal()) return std::vector{std::move(candidates_.back().layers)};
    }
    Choice choice = choose();
    while (choice.worst_ratio > kSufficientRatio && candidates_.size() < most_candidates()) {
      const auto has_sample = [&](const Candidate& c) { return c.sample == choice.worst_sample; };
      if (std::ranges::any_of(candidates_, has_sample)) break;
      SCOPEVM_RETURN_IF_ERROR(add_candidate(choice.worst_sample));
      choice = choose();
    }
    std::vector<Layers> layers;
    for (const size_t index : choice.candidates)
      layers.push_back(std::move(candidates_[index].layers));
    return layers;
  }

 private:
  static constexpr size_t kFirstCandidates = 24;

  struct Candidate {
    Layers layers;
    size_t sample = 0;           // of the plan
    std::vector<double> ratios;  // of the height to the lower bound, by sample

    bool is_ideal() const { return std::ranges::max(ratios) == 1; }
  };

  // At each sample, the lowest plan is used.
  struct Choice {
    std::vector<size_t> candidates;
    double worst_ratio = kInfinity;
    size_t worst_sample = 0;
  };

  // layers_of() compares all pairs of buffers.
  size_t most_candidates() const {
    constexpr size_t kFewest = 4, kMost = 96, kMostPairs = size_t{1} << 25;
    const size_t count = problem_.buffers.size();
    return std::clamp(kMostPairs / (count * count), kFewest, kMost);
  }

  // The largest number of live bytes at each sample. One order of events serves all samples, which
  // plan::live_bytes_bound() would sort again for each.
  void find_bounds() {
    struct Event {
      int64_t step;
      bool is_begin;
      size_t buffer;
    };
    std::vector<Event> events;
    for (size_t i = 0; i < problem_.buffers.size(); ++i) {
      const plan::Lifespan& lifespan = problem_.buffers[i].lifespans.front();
      events.push_back({lifespan.lower, true, i});
      events.push_back({lifespan.upper, false, i});
    }
    // Lifespans are half-open: at one step, ends come first.
    std::ranges::sort(events, {}, [](const Event& e) { return std::pair(e.step, e.is_begin); });
    for (const std::vector<int64_t>& sizes : samples_) {
      int64_t live = 0, most = 0;
      for (const Event& event : events) {
        live += event.is_begin ? sizes[event.buffer] : -sizes[event.buffer];
        most = std::max(most, live);
      }
      bounds_.push_back(most);
    }
  }

  // The layers of a plan at this sample.
  Status add_candidate(size_t sample) {
    for (size_t i = 0; i < problem_.buffers.size(); ++i)
      problem_.buffers[i].size = samples_[sample][i];
    // Heuristics stop after a number of operations, not of seconds, so that compilations are
    // reproducible.
    SCOPEVM_ASSIGN_OR_RETURN(
        const plan::Plan plan,
        plan::solve(problem_, {.time_limit_s = kInfinity, .solver = plan::Solver::kHeuristic}));
    Candidate candidate{.layers = layers_of(problem_, plan), .sample = sample};
    for (size_t i = 0; i < samples_.size(); ++i)
      candidate.ratios.push_back(ratio_at(candidate.layers, i));
    candidates_.push_back(std::move(candidate));
    return {};
  }

  double ratio_at(const Layers& layers, size_t sample) const {
    const std::vector<int64_t>& sizes = samples_[sample];
    const std::vector<int64_t> offsets = place_by_layers(layers, sizes);
    int64_t height = 0;
    for (size_t i = 0; i < sizes.size(); ++i) height = std::max(height, offsets[i] + sizes[i]);
    if (height == bounds_[sample]) return 1;
    return static_cast<double>(height) / static_cast<double>(bounds_[sample]);
  }

  // Greedy: each further candidate is sufficient where the chosen ones are worst.
  Choice choose() const {
    Choice choice;
    std::vector<double> ratios(samples_.size(), kInfinity);
    while (choice.candidates.size() < kMostLayers && choice.worst_ratio > kSufficientRatio) {
      const size_t best = find_best(ratios, choice);
      if (std::ranges::find(choice.candidates, best) != choice.candidates.end()) break;
      choice.candidates.push_back(best);
      for (size_t i = 0; i < ratios.size(); ++i)
        ratios[i] = std::min(ratios[i], candidates_[best].ratios[i]);
      choice.worst_sample = std::ranges::max_element(ratios) - ratios.begin();
      choice.worst_ratio = ratios[choice.worst_sample];
    }
    return choice;
  }

  // The candidate that lowers the sum of `ratios` most. After the first one, only candidates that
  // are sufficient or lowest at the worst sample.
  size_t find_best(const std::vector<double>& ratios, const Choice& choice) const {
    double sufficient = kInfinity;
    if (!choice.candidates.empty()) {
      double lowest = kInfinity;
      for (const Candidate& candidate : candidates_)
        lowest = std::min(lowest, candidate.ratios[choice.worst_sample]);
      sufficient = std::max(kSufficientRatio, lowest);
    }
    size_t best = 0;
    double least = kInfinity;
    for (size_t c = 0; c < candidates_.size(); ++c) {
      if (candidates_[c].ratios[choice.worst_sample] > sufficient) continue;
      double sum = 0;
      for (size_t i = 0; i < ratios.size(); ++i)
        sum += std::min(ratios[i], candidates_[c].ratios[i]);
      if (sum >= least) continue;
      least = sum;
      best = c;
    }
    return best;
  }

  plan::Problem& problem_;
  const std::vector<std::vector<int64_t>>& samples_;
  std::vector<int64_t> bounds_;  // by sample
  std::vector<Candidate> candidates_;
};

}  // namespace

Result<std::vector<Layers>> choose_layers(plan::Problem& problem,
                                          const std::vector<std::vector<int64_t>>& samples) {
  return LayersChoice(problem, samples).run();
}

}  // namespace scopevm::compiler::memory
