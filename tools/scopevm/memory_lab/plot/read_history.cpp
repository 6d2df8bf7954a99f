// Reads traces and plans as histories; see history.h.
#include <algorithm>
#include <charconv>
#include <limits>
#include <numeric>
#include <optional>

#include "tools/scopevm/file.h"
#include "tools/scopevm/memory_lab/plot/history.h"
#include "tools/scopevm/memory_lab/plot/live_bytes.h"
#include "tools/scopevm/memory_lab/trace_file.h"

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

std::vector<std::string_view> split(std::string_view line, char separator) {
  std::vector<std::string_view> fields;
  while (true) {
    const size_t end = line.find(separator);
    fields.push_back(line.substr(0, end));
    if (end == std::string_view::npos) return fields;
    line.remove_prefix(end + 1);
  }
}

// The positions of the columns of a plan.
struct Columns {
  size_t id, lower, upper, size, offset;
  std::optional<size_t> pool;  // of plans with several pools
};

Result<Columns> columns_of(std::string_view header) {
  const std::vector<std::string_view> names = split(header, ',');
  Columns columns;
  const std::pair<std::string_view, size_t*> required[] = {{"id", &columns.id},
                                                           {"lower", &columns.lower},
                                                           {"upper", &columns.upper},
                                                           {"size", &columns.size},
                                                           {"offset", &columns.offset}};
  for (const auto& [name, position] : required) {
    const auto found = std::ranges::find(names, name);
    if (found == names.end())
      return Status(StatusCode::kInvalidModel,
                    "neither a memory trace nor a plan: expected the columns id, lower, upper, "
                    "size and offset in the first line");
    *position = static_cast<size_t>(found - names.begin());
  }
  if (const auto pool = std::ranges::find(names, "pool"); pool != names.end())
    columns.pool = static_cast<size_t>(pool - names.begin());
  return columns;
}

Result<uint64_t> number_in(const std::vector<std::string_view>& fields, size_t column) {
  uint64_t value = 0;
  const std::string_view text = column < fields.size() ? fields[column] : "";
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value > kMaxBlockSize)
    return Status(StatusCode::kInvalidModel, "\"" + std::string(text) +
                                                 "\": expected an integer from 0 to " +
                                                 std::to_string(kMaxBlockSize));
  return value;
}

Status add_buffer(std::string_view line, const Columns& columns, History& history) {
  const std::vector<std::string_view> fields = split(line, ',');
  Span span;
  SCOPEVM_ASSIGN_OR_RETURN(span.begin, number_in(fields, columns.lower));
  SCOPEVM_ASSIGN_OR_RETURN(span.end, number_in(fields, columns.upper));
  SCOPEVM_ASSIGN_OR_RETURN(span.size, number_in(fields, columns.size));
  SCOPEVM_ASSIGN_OR_RETURN(span.address, number_in(fields, columns.offset));
  if (span.begin >= span.end)
    return {StatusCode::kInvalidModel, "the lower end of the lifespan is not below the upper end"};
  // In a step, the buffers whose lifespans end are released first.
  span.begin_event = span.begin;
  span.end_event = span.end;
  TraceTables& tables = history.tables;
  span.stack = static_cast<uint32_t>(tables.stacks.size());
  tables.stacks.push_back({.caller = 0, .frame = static_cast<uint32_t>(tables.strings.size())});
  tables.strings.emplace_back(columns.id < fields.size() ? fields[columns.id] : "");
  if (columns.pool) {
    const std::string pool(*columns.pool < fields.size() ? fields[*columns.pool] : "");
    const auto known = std::ranges::find(tables.scopes, pool);
    span.scope = static_cast<uint32_t>(known - tables.scopes.begin());
    if (known == tables.scopes.end()) tables.scopes.push_back(pool);
  }
  history.begin = std::min(history.begin, span.begin);
  history.end = std::max(history.end, span.end);
  history.spans.push_back(span);
  return {};
}

bool is_before_header(std::string_view line) {
  return line.empty() || line.starts_with('#') || line.starts_with("pool,");
}

Result<History> read_plan(std::string_view text, const std::string& path) {
  History history{.title = path, .is_plan = true, .begin = kNever};
  const std::vector<std::string_view> lines = split(text, '\n');
  // Comments and the declarations of pools precede the header.
  size_t header = 0;
  while (header + 1 < lines.size() && is_before_header(lines[header])) ++header;
  SCOPEVM_ASSIGN_OR_RETURN(const Columns columns, columns_of(lines[header]));
  if (!columns.pool) history.tables.scopes = {"plan"};
  for (size_t i = header + 1; i < lines.size(); ++i) {
    if (lines[i].empty() || lines[i].starts_with('#')) continue;
    if (Status status = add_buffer(lines[i], columns, history); !status.ok())
      return std::move(status).with_context("line " + std::to_string(i + 1));
  }
  if (history.spans.empty()) return Status(StatusCode::kInvalidModel, "the plan has no buffer");
  history.allocations = history.spans.size();
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
