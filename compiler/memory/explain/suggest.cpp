// Evaluates edits by planning the edited functions; see the header.
#include "compiler/memory/explain/suggest.h"

#include <algorithm>
#include <ranges>
#include <string>

#include "compiler/memory/explain/find_edits.h"
#include "compiler/memory/explain/live_bytes.h"
#include "compiler/memory/uses.h"

namespace scopevm::compiler::memory {
namespace {

using Suggestion = MemoryExplanation::Suggestion;
using Change = MemoryExplanation::Change;

// Edits are sought for so many of the largest buffers at the peak.
constexpr size_t kMostBuffers = 12;
constexpr size_t kMostSuggestions = 6;
constexpr size_t kMostEdits = 32;  // of a sequence
// Limits the time of a sequence: an edit is evaluated in time proportional to the steps.
constexpr size_t kMostStepsEvaluated = 200'000;

// An edited function and its peak.
struct State {
  EditedFunction edited;
  Liveness liveness;
  SizedArena arena;
  MemoryPeak peak;
  int64_t peaks = 0;  // number of steps with as many live bytes

  // Lower is better. Functions with repeated layers have several equal peaks.
  std::pair<int64_t, int64_t> rank() const { return {peak.bytes, peaks}; }
};

class Suggester {
 public:
  explicit Suggester(const SuggestionRequest& request)
      : request_(request), program_(request.program), machine_(request.program.machine) {}

  std::vector<Suggestion> run() {
    std::optional<State> state = evaluate(EditedFunction(request_.function));
    if (!state || state->peak.bytes == 0) return {};
    std::vector<Suggestion> suggestions = single_edits(*state);
    if (std::optional<Suggestion> sequence = greedy_sequence(*std::move(state)))
      if (suggestions.empty() ||
          sequence->lower_bound_bytes < suggestions.front().lower_bound_bytes)
        suggestions.insert(suggestions.begin(), *std::move(sequence));
    std::ranges::stable_sort(suggestions, {}, rank);
    if (suggestions.size() > kMostSuggestions) suggestions.resize(kMostSuggestions);
    return suggestions;
  }

 private:
  static std::pair<int64_t, int64_t> rank(const Suggestion& suggestion) {
    return {suggestion.lower_bound_bytes, suggestion.bytes};
  }

  // None if the sizes of the function are unknown.
  std::optional<State> evaluate(EditedFunction edited) {
    steps_evaluated_ += edited.function.steps.size();
    Liveness liveness = find_lifespans(machine_, edited.function);
    std::optional<SizedArena> arena =
        sized_arena(liveness, request_.arena.segment, request_.arena.pool, request_.request);
    if (!arena || edited.function.steps.empty()) return std::nullopt;
    const std::vector<int64_t> live = live_bytes(arena->buffers, edited.function.steps.size());
    const MemoryPeak peak = peak_of(live);
    const int64_t peaks = std::ranges::count(live, peak.bytes);
    return State{std::move(edited), std::move(liveness), *std::move(arena), peak, peaks};
  }

  std::vector<Edit> edits_of(const State& state) const {
    std::vector<BufferIndex> live;
    for (int64_t i : live_at(state.arena.buffers, state.peak.step) | std::views::take(kMostBuffers))
      live.push_back(state.arena.members[i]);
    return find_edits(program_, state.edited.function, state.liveness, live, state.peak.step,
                      request_.request);
  }

  std::optional<State> evaluate(const State& state, const Edit& edit) {
    EditedFunction edited = state.edited;
    apply(edit, state.liveness, edited);
    return evaluate(std::move(edited));
  }

  std::vector<Suggestion> single_edits(const State& state) {
    struct Tried {
      Edit edit;
      State state;
    };
    std::vector<Tried> tried;
    for (const Edit& edit : edits_of(state))
      if (std::optional<State> after = evaluate(state, edit);
          after && after->peak.bytes < state.peak.bytes)
        tried.push_back({edit, *std::move(after)});
    std::ranges::stable_sort(tried, {}, [](const Tried& t) { return t.state.peak.bytes; });
    std::vector<Suggestion> suggestions;
    for (const Tried& t : tried) {
      std::vector<Change> changes = {described(state, t.edit)};
      if (std::optional<Suggestion> planned = planned_suggestion(t.state, std::move(changes)))
        suggestions.push_back(*std::move(planned));
      if (suggestions.size() == kMostSuggestions) break;
    }
    return suggestions;
  }

  // Repeatedly applies the edit after which the peak is lowest. Only edits that keep the results
  // and the pools are applied.
  std::optional<Suggestion> greedy_sequence(State state) {
    const int64_t before = state.peak.bytes;
    std::vector<Change> changes, best_changes;
    std::optional<State> best;
    while (changes.size() < kMostEdits && steps_evaluated_ < kMostStepsEvaluated) {
      std::optional<State> next;
      std::optional<Edit> next_edit;
      for (const Edit& edit : edits_of(state)) {
        if (edit.kind != Edit::Kind::kReorder && edit.kind != Edit::Kind::kRecompute) continue;
        std::optional<State> after = evaluate(state, edit);
        if (!after || after->rank() >= (next ? next->rank() : state.rank())) continue;
        next = std::move(after);
        next_edit = edit;
      }
      if (!next) break;
      changes.push_back(described(state, *next_edit));
      state = *std::move(next);
      if (state.peak.bytes < (best ? best->peak.bytes : before)) {
        best = state;
        best_changes = changes;
      }
    }
    if (best_changes.size() < 2) return std::nullopt;
    return planned_suggestion(*best, std::move(best_changes));
  }

  // Plans the function of the state. None if a buffer does not fit into the pool to which it moves,
  // or if the plan is not lower than the current one.
  std::optional<Suggestion> planned_suggestion(const State& state, std::vector<Change> changes) {
    const Function& function = state.edited.function;
    Result<ShapeProgram> shapes = ShapeProgram::create(function);
    if (!shapes.ok()) return std::nullopt;
    const Result<Plan> plan = make_plan(machine_, function, *shapes);
    if (!plan.ok()) return std::nullopt;
    const auto values = shapes->evaluate(request_.request.symbols, request_.request.threads);
    if (!values) return std::nullopt;
    Suggestion suggestion{.changes = std::move(changes),
                          .lower_bound_bytes = state.peak.bytes,
                          .peak_step = state.edited.origin[state.peak.step]};
    std::map<PoolIndex, int64_t> heights;
    for (const Arena& arena : plan->arenas) {
      const int64_t height = (*values)[arena.height];
      if (arena.segment == SegmentIndex{0}) heights[arena.pool] = height;
      if (arena.segment != request_.arena.segment || arena.pool != request_.arena.pool) continue;
      suggestion.bytes = height;
      const auto placed =
          plan->at(machine_, arena, *shapes, request_.request.symbols, request_.request.threads);
      if (!placed) return std::nullopt;
      for (size_t i = 0; i < arena.buffers.size(); ++i) {
        const plan::Buffer& buffer = placed->problem.buffers[i];
        suggestion.lifespans.push_back({.lower = buffer.lifespans.front().lower,
                                        .upper = buffer.lifespans.front().upper,
                                        .bytes = buffer.size,
                                        .offset = placed->plan.offsets[i]});
      }
    }
    if (suggestion.bytes >= request_.height) return std::nullopt;
    for (Change& change : suggestion.changes)
      if (change.kind == Change::Kind::kMove && !set_pool_bytes(change, heights))
        return std::nullopt;
    return suggestion;
  }

  // Returns false if the pool's limit is exceeded.
  bool set_pool_bytes(Change& change, const std::map<PoolIndex, int64_t>& heights) const {
    const auto of = [](const std::map<PoolIndex, int64_t>& bytes, PoolIndex pool) {
      const auto found = bytes.find(pool);
      return found == bytes.end() ? 0 : found->second;
    };
    for (PoolIndex pool : machine_.pools.indices()) {
      if (machine_.pool_name(pool) != change.pool) continue;
      change.pool_bytes =
          of(request_.bytes_of_pool, pool) - of(request_.heights, pool) + of(heights, pool);
      return !machine_.pools[pool].is_limited() || change.pool_bytes <= *machine_.pools[pool].limit;
    }
    return false;
  }

  Change described(const State& state, const Edit& edit) const {
    const Function& function = state.edited.function;
    Change change{.kind = edit.kind};
    const bool is_scratch = !is_value(state, edit);
    if (!is_scratch) change.value = function.values[edit.value].name;
    if (edit.kind == Edit::Kind::kReuse) change.operand = function.values[edit.operand].name;
    for (int64_t at : edit.steps) change.steps.push_back(state.edited.origin[at]);
    if (edit.kind == Edit::Kind::kReorder || edit.kind == Edit::Kind::kRecompute)
      change.before = state.edited.origin[edit.before];
    if (edit.kind == Edit::Kind::kRecompute)
      change.accessed_bytes = accessed_bytes(function, function.steps[edit.steps.front()]);
    if (edit.kind == Edit::Kind::kMove) describe_move(state, edit, is_scratch, change);
    return change;
  }

  static bool is_value(const State& state, const Edit& edit) {
    return edit.kind != Edit::Kind::kMove ||
           state.liveness.buffer_of_value[edit.value] == edit.buffer;
  }

  void describe_move(const State& state, const Edit& edit, bool is_scratch, Change& change) const {
    const Function& function = state.edited.function;
    change.pool = machine_.pool_name(edit.pool);
    const Liveness::Lifespan& lifespan = state.liveness.buffers[edit.buffer];
    if (is_scratch) {
      change.value = function.steps[lifespan.lower].name;
      change.steps = {state.edited.origin[lifespan.lower]};
      return;
    }
    const BufferUses uses(program_, function, state.liveness);
    if (const auto accesses = uses.accesses_if_free(edit.buffer))
      for (size_t i = 0; i < state.arena.members.size(); ++i)
        if (state.arena.members[i] == edit.buffer)
          change.accessed_bytes =
              static_cast<int64_t>(accesses->size()) * state.arena.buffers[i].size;
  }

  int64_t accessed_bytes(const Function& function, const Step& step) const {
    int64_t sum = 0;
    const auto add = [&](ValueId id) {
      sum += memory::evaluate(function.values[id].bytes(), request_.request).value_or(0);
    };
    std::ranges::for_each(step.operands, add);
    std::ranges::for_each(step.results, add);
    return sum;
  }

  const SuggestionRequest& request_;
  const Program& program_;
  const Machine& machine_;
  size_t steps_evaluated_ = 0;
};

}  // namespace

std::vector<Suggestion> suggest(const SuggestionRequest& request) {
  return Suggester(request).run();
}

}  // namespace scopevm::compiler::memory
