// The subset construction. States from which no string is accepted are removed, and bytes that all
// states treat alike share a column.
#include "compiler/import/ops/string/automaton.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "compiler/import/ops/string/byte_steps.h"

namespace scopevm::compiler::frontend {
namespace {

constexpr int32_t kMostStates = 16384;
// A limit for patterns whose states are large sets.
constexpr int64_t kMostWork = int64_t{1} << 25;

// What precedes a position, and what follows it, as far as assertions depend on it.
enum class Side : uint8_t { kOther, kText, kLine, kWord };  // kText: the string's begin or end

bool is_word(int c) {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || c == '_' || (c >= 'a' && c <= 'z');
}

bool holds(Assertion assertion, Side before, Side after) {
  switch (assertion) {
    case Assertion::kBeginText:
      return before == Side::kText;
    case Assertion::kEndText:
      return after == Side::kText;
    case Assertion::kBeginLine:
      return before == Side::kText || before == Side::kLine;
    case Assertion::kEndLine:
      return after == Side::kText || after == Side::kLine;
    case Assertion::kWordBoundary:
      return (before == Side::kWord) != (after == Side::kWord);
    case Assertion::kNoWordBoundary:
      return (before == Side::kWord) == (after == Side::kWord);
  }
  return false;
}

// A state of the deterministic automaton: the steps that are reached by the bytes read so far, in
// ascending order, without those that follow them by splits and assertions.
struct Subset {
  std::vector<int32_t> steps;
  Side before = Side::kOther;
  auto operator<=>(const Subset&) const = default;
};

class Determinizer {
 public:
  explicit Determinizer(const ByteSteps& steps) : steps_(steps.steps()), marks_(steps_.size()) {
    for (const ByteStep& step : steps_)
      if (step.kind == ByteStep::Kind::kAssertion) add_sides(step.assertion);
    find_intervals();
    state_of({{steps.initial()}, Side::kText});
  }

  Result<std::vector<int32_t>> run() {
    for (size_t state = 0; state < subsets_.size(); ++state) {
      expand(state);
      if (static_cast<int32_t>(subsets_.size()) > kMostStates)
        return Status(StatusCode::kUnsupported,
                      "the pattern is too complex: its automaton has more than " +
                          std::to_string(kMostStates) + " states");
      if (work_ > kMostWork)
        return Status(StatusCode::kUnsupported,
                      "the pattern is too complex: the states of its automaton are too large");
    }
    return table();
  }

 private:
  void add_sides(Assertion assertion);
  Side side_of(int byte) const;
  void find_intervals();
  void expand(size_t state);
  const std::vector<int32_t>& reached(const Subset& subset, Side after);
  int32_t state_of(Subset subset);
  std::vector<bool> live_states() const;
  std::vector<int32_t> table() const;

  std::span<const ByteStep> steps_;
  bool has_lines_ = false;                  // an assertion depends on Side::kLine
  bool has_words_ = false;                  // an assertion depends on Side::kWord
  std::vector<int> begins_;                 // of the intervals of bytes that no step separates
  std::array<int32_t, 256> interval_of_{};  // by byte
  std::map<Subset, int32_t> states_;
  std::vector<const Subset*> subsets_;
  // By state: whether the string may end, and the next state for each interval, or -1.
  std::vector<bool> accepts_;
  std::vector<std::vector<int32_t>> next_;
  std::vector<int32_t> marks_;  // by step: the last search that reached it
  int32_t search_ = 0;
  std::vector<int32_t> reached_;
  bool reaches_end_ = false;  // of the last search
  int64_t work_ = 0;
};

void Determinizer::add_sides(Assertion assertion) {
  has_lines_ = has_lines_ || assertion == Assertion::kBeginLine || assertion == Assertion::kEndLine;
  has_words_ = has_words_ || assertion == Assertion::kWordBoundary ||
               assertion == Assertion::kNoWordBoundary;
}

Side Determinizer::side_of(int byte) const {
  if (has_lines_ && byte == '\n') return Side::kLine;
  return has_words_ && is_word(byte) ? Side::kWord : Side::kOther;
}

void Determinizer::find_intervals() {
  std::array<bool, 257> begins{};
  begins[0] = true;
  for (const ByteStep& step : steps_)
    if (step.kind == ByteStep::Kind::kBytes && step.first <= step.last)
      begins[step.first] = begins[size_t{step.last} + 1] = true;
  for (int byte = 0; byte < 256; ++byte) {
    const bool differs = byte > 0 && side_of(byte) != side_of(byte - 1);
    if (begins[static_cast<size_t>(byte)] || differs) begins_.push_back(byte);
    interval_of_[static_cast<size_t>(byte)] = static_cast<int32_t>(begins_.size()) - 1;
  }
}

int32_t Determinizer::state_of(Subset subset) {
  const auto [found, is_new] =
      states_.try_emplace(std::move(subset), static_cast<int32_t>(subsets_.size()));
  if (is_new) subsets_.push_back(&found->first);
  return found->second;
}

// The steps on bytes that the subset reaches by splits and assertions. Sets `reaches_end_`.
const std::vector<int32_t>& Determinizer::reached(const Subset& subset, Side after) {
  ++search_;
  reached_.clear();
  reaches_end_ = false;
  std::vector<int32_t> pending = subset.steps;
  while (!pending.empty()) {
    const int32_t at = pending.back();
    pending.pop_back();
    if (std::exchange(marks_[static_cast<size_t>(at)], search_) == search_) continue;
    ++work_;
    const ByteStep& step = steps_[static_cast<size_t>(at)];
    if (step.kind == ByteStep::Kind::kAccept) reaches_end_ = true;
    if (step.kind == ByteStep::Kind::kBytes) reached_.push_back(at);
    if (step.kind == ByteStep::Kind::kSplit) pending.push_back(step.other);
    if (step.kind == ByteStep::Kind::kSplit ||
        (step.kind == ByteStep::Kind::kAssertion && holds(step.assertion, subset.before, after)))
      pending.push_back(step.next);
  }
  return reached_;
}

void Determinizer::expand(size_t state) {
  const Subset subset = *subsets_[state];
  reached(subset, Side::kText);
  accepts_.push_back(reaches_end_);
  std::vector<std::vector<int32_t>> targets(begins_.size());
  std::vector<Side> sides;
  for (const int begin : begins_) sides.push_back(side_of(begin));
  for (const Side side : {Side::kOther, Side::kLine, Side::kWord}) {
    if (std::ranges::find(sides, side) == sides.end()) continue;
    for (const int32_t at : reached(subset, side)) {
      const ByteStep& step = steps_[static_cast<size_t>(at)];
      for (int byte = step.first; byte <= step.last;) {
        const auto interval = static_cast<size_t>(interval_of_[static_cast<size_t>(byte)]);
        if (sides[interval] == side) targets[interval].push_back(step.next);
        byte = interval + 1 < begins_.size() ? begins_[interval + 1] : 256;
        ++work_;
      }
    }
  }
  std::vector<int32_t>& next = next_.emplace_back();
  for (size_t interval = 0; interval < targets.size(); ++interval) {
    std::vector<int32_t>& steps = targets[interval];
    std::ranges::sort(steps);
    steps.erase(std::unique(steps.begin(), steps.end()), steps.end());
    next.push_back(steps.empty() ? -1 : state_of({std::move(steps), sides[interval]}));
  }
}

// The states from which some string is accepted.
std::vector<bool> Determinizer::live_states() const {
  std::vector<std::vector<int32_t>> before(subsets_.size());
  std::vector<bool> is_live = accepts_;
  std::vector<int32_t> pending;
  for (size_t state = 0; state < before.size(); ++state) {
    if (is_live[state]) pending.push_back(static_cast<int32_t>(state));
    for (const int32_t next : next_[state])
      if (next >= 0) before[static_cast<size_t>(next)].push_back(static_cast<int32_t>(state));
  }
  while (!pending.empty()) {
    const auto at = static_cast<size_t>(pending.back());
    pending.pop_back();
    for (const int32_t state : before[at])
      if (!is_live[static_cast<size_t>(state)]) {
        is_live[static_cast<size_t>(state)] = true;
        pending.push_back(state);
      }
  }
  return is_live;
}

std::vector<int32_t> Determinizer::table() const {
  std::vector<bool> is_kept = live_states();
  is_kept[0] = true;  // the initial state
  std::vector<int32_t> number(subsets_.size(), -1), kept;
  for (size_t state = 0; state < number.size(); ++state)
    if (is_kept[state]) {
      number[state] = static_cast<int32_t>(kept.size());
      kept.push_back(static_cast<int32_t>(state));
    }
  // Column 0 is for the end of the string.
  std::map<std::vector<int32_t>, int32_t> columns;
  std::vector<int32_t> column_of;
  for (size_t interval = 0; interval < begins_.size(); ++interval) {
    std::vector<int32_t> column;
    for (const int32_t state : kept) {
      const int32_t next = next_[static_cast<size_t>(state)][interval];
      column.push_back(next < 0 ? -1 : number[static_cast<size_t>(next)]);
    }
    const auto count = static_cast<int32_t>(columns.size()) + 1;
    column_of.push_back(columns.try_emplace(std::move(column), count).first->second);
  }
  const size_t width = columns.size() + 1;
  std::vector<int32_t> table(257 + kept.size() * width);
  for (size_t byte = 0; byte < 256; ++byte)
    table[byte] = column_of[static_cast<size_t>(interval_of_[byte])];
  table[256] = static_cast<int32_t>(width);
  for (size_t row = 0; row < kept.size(); ++row) {
    table[257 + row * width] = accepts_[static_cast<size_t>(kept[row])] ? 1 : 0;
    for (const auto& [column, index] : columns)
      table[257 + row * width + static_cast<size_t>(index)] = column[row];
  }
  return table;
}

}  // namespace

Result<std::vector<int32_t>> automaton_of(const Pattern& pattern) {
  const ByteSteps steps(pattern);
  if (!steps.is_complete())
    return Status(StatusCode::kUnsupported,
                  "the pattern is too complex: its characters and repetitions have more than " +
                      std::to_string(steps.steps().size() - 1) + " states");
  return Determinizer(steps).run();
}

}  // namespace scopevm::compiler::frontend
