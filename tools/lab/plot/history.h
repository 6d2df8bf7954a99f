// The blocks of a trace or plan, as rectangles in address and time. Input of the page.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "scopevm/status.h"
#include "tools/lab/trace/event.h"

namespace scopevm::lab {

// A block at one address. A reallocation ends one span and begins another.
struct Span {
  uint64_t begin = 0;  // time
  uint64_t end = 0;
  uint64_t address = 0;
  uint64_t size = 0;
  uint64_t begin_event = 0;  // position among all events; [begin_event, end_event) is exact where
  uint64_t end_event = 0;    // several events have the same time
  uint32_t scope = 0;
  uint32_t stack = 0;
};

// The live bytes of each memory scope, at the moment of an interval of time at which most bytes of
// all scopes are live.
struct Sample {
  uint64_t total = 0;
  std::vector<uint64_t> by_scope;
};

struct History {
  std::string title;
  bool is_plan = false;    // times are steps of a plan; otherwise nanoseconds
  std::string gap;         // what an incomplete trace lacks
  int64_t first_step = 0;  // of a plan: time 0
  uint64_t begin = 0;      // of all spans
  uint64_t end = 0;
  uint64_t allocations = 0;
  std::vector<uint64_t> scope_peaks;  // bytes, by scope; at different times
  std::vector<Span> spans;
  std::vector<Sample> samples;  // of equal intervals of [begin, end]
  uint64_t peak_bytes = 0;      // of all scopes together
  uint64_t peak_time = 0;
  uint64_t peak_event = 0;
  TraceTables tables;  // scopes and call stacks; the stack of a buffer of a plan is its id

  const std::vector<std::string>& scopes() const { return tables.scopes; }
  // The frames of a call stack, the outermost first.
  std::vector<std::string_view> frames(uint32_t stack) const;
  bool is_live_at_peak(const Span& span) const {
    return span.begin_event <= peak_event && peak_event < span.end_event;
  }
};

// Reads a memory trace, or a plan in CSV form with the columns id, lower, upper, size and offset.
// "-" denotes stdin. Errors: kNotFound, kInvalidModel (with the file and the position).
Result<History> read_history(const std::string& path);

}  // namespace scopevm::lab
