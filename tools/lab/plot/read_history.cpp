// Reads traces and plans as histories; see history.h.
#include <algorithm>
#include <limits>

#include "scopevm/plan.h"
#include "tools/files/file.h"
#include "tools/lab/plot/history.h"
#include "tools/lab/plot/live_bytes.h"
#include "tools/lab/trace/trace_file.h"

namespace scopevm::lab {
namespace {

constexpr uint64_t kNever = std::numeric_limits<uint64_t>::max();

// The spans of the events of a trace.
class TraceSpans {
 public:
  explicit TraceSpans(History& history) : history_(history) {}

  void add(const Event& event) {
    const uint64_t number = events_++;
    history_.end = std::max(history_.end, event.time_ns);
    if (event.kind == EventKind::kAllocate) {
      span_of_block_.push_back(0);
    } else {
      Span& span = history_.spans[span_of_block_[event.block]];
      span.end = event.time_ns;
      span.end_event = number;
    }
    if (event.kind == EventKind::kRelease) return;
    span_of_block_[event.block] = history_.spans.size();
    history_.spans.push_back({.begin = event.time_ns,
                              .end = kNever,
                              .address = event.address,
                              .size = event.size,
                              .begin_event = number,
                              .end_event = kNever,
                              .scope = event.scope,
                              .stack = event.stack});
  }

 private:
  History& history_;
  std::vector<size_t> span_of_block_;
  uint64_t events_ = 0;
};

// Computes live bytes from the spans. A reallocation releases and allocates in one event.
void count_live_bytes(History& history) {
  struct Change {
    uint64_t event;
    uint64_t time;
    int64_t bytes;
    uint32_t scope;
  };
  std::vector<Change> changes;
  for (Span& span : history.spans) {
    const auto size = static_cast<int64_t>(span.size);
    changes.push_back({span.begin_event, span.begin, size, span.scope});
    if (span.end == kNever)
      span.end = history.end;
    else
      changes.push_back({span.end_event, span.end, -size, span.scope});
  }
  std::ranges::sort(changes, [](const Change& a, const Change& b) {
    return std::pair(a.event, a.bytes) < std::pair(b.event, b.bytes);
  });
  LiveBytes live(history);
  for (const Change& change : changes)
    live.add(change.time, change.event, change.scope, change.bytes);
  live.finish();
}

Result<History> read_trace(TraceReader reader, const std::string& path) {
  History history;
  TraceSpans spans(history);
  SCOPEVM_RETURN_IF_ERROR(
      for_each_event(reader, path, [&](const Event& event) { spans.add(event); }));
  history.title = reader.command();
  history.gap = reader.gap();
  history.allocations = reader.totals().allocations;
  history.tables = reader.tables();
  count_live_bytes(history);
  return history;
}

// The spans of a buffer: one for each lifespan.
void add_buffer(const plan::Buffer& buffer, int64_t offset, int pool, History& history) {
  TraceTables& tables = history.tables;
  const auto stack = static_cast<uint32_t>(tables.stacks.size());
  tables.stacks.push_back({.caller = 0, .frame = static_cast<uint32_t>(tables.strings.size())});
  tables.strings.emplace_back(buffer.id);
  for (const plan::Lifespan& lifespan : buffer.lifespans) {
    // Exact for negative steps, too: all times are relative to first_step.
    const auto begin = static_cast<uint64_t>(lifespan.lower - history.first_step);
    const auto end = static_cast<uint64_t>(lifespan.upper - history.first_step);
    // In a step, the buffers whose lifespans end are released first.
    history.spans.push_back({.begin = begin,
                             .end = end,
                             .address = static_cast<uint64_t>(offset),
                             .size = static_cast<uint64_t>(buffer.size),
                             .begin_event = begin,
                             .end_event = end,
                             .scope = static_cast<uint32_t>(pool),
                             .stack = stack});
    history.end = std::max(history.end, end);
  }
}

// Numbers that the page and its drawings represent exactly.
Status check_range(const plan::Buffer& buffer, int64_t offset) {
  constexpr auto kMost = static_cast<int64_t>(kMaxBlockSize);
  for (const int64_t value :
       {buffer.size, offset, buffer.lifespans.front().lower, buffer.lifespans.back().upper})
    if (value > kMost || value < -kMost)
      return {StatusCode::kInvalidModel, "buffer \"" + buffer.id + "\": " + std::to_string(value) +
                                             ": expected at most " + std::to_string(kMost)};
  return {};
}

Result<History> read_plan(std::string_view text, const std::string& path) {
  Result<plan::PlannedProblem> parsed = plan::parse_plan_csv(text);
  if (!parsed.ok())
    return std::move(parsed).status().with_context("neither a memory trace nor a valid plan");
  const auto& [problem, plan] = *parsed;
  if (problem.buffers.empty()) return Status(StatusCode::kInvalidModel, "the plan has no buffer");
  History history{.title = path, .is_plan = true};
  history.first_step = problem.buffers.front().lifespans.front().lower;
  for (const plan::Buffer& buffer : problem.buffers)
    history.first_step = std::min(history.first_step, buffer.lifespans.front().lower);
  for (const plan::Pool& pool : problem.pools) history.tables.scopes.push_back(pool.name);
  if (problem.pools.empty()) history.tables.scopes = {"plan"};
  for (size_t i = 0; i < problem.buffers.size(); ++i) {
    SCOPEVM_RETURN_IF_ERROR(check_range(problem.buffers[i], plan.offsets[i]));
    add_buffer(problem.buffers[i], plan.offsets[i], plan.pools[i], history);
  }
  history.allocations = problem.buffers.size();
  count_live_bytes(history);
  return history;
}

}  // namespace

std::vector<std::string_view> History::frames(uint32_t stack) const {
  std::vector<std::string_view> frames;
  for (; stack != 0; stack = tables.stacks[stack].caller)
    frames.push_back(tables.strings[tables.stacks[stack].frame]);
  std::ranges::reverse(frames);
  return frames;
}

Result<History> read_history(const std::string& path) {
  SCOPEVM_ASSIGN_OR_RETURN(const runtime::MappedFile file, tool::map_input(path));
  const std::string name = tool::input_name(path);
  const std::string_view text(reinterpret_cast<const char*>(file.data), file.size);
  if (text.starts_with(kTraceMagic)) {
    Result<TraceReader> reader = TraceReader::open({file.data, file.size});
    if (!reader.ok()) return std::move(reader).status().with_context(name);
    return read_trace(*std::move(reader), path);
  }
  Result<History> plan = read_plan(text, name);
  if (!plan.ok()) return std::move(plan).status().with_context(name);
  return plan;
}

}  // namespace scopevm::lab
