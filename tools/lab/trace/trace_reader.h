// Reads a memory trace; see docs/memory-trace.md. Every event that the reader returns is valid: a
// release or reallocation names a live block, and all indices are within their tables.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "scopevm/status.h"
#include "tools/lab/trace/event.h"
#include "tools/lab/trace/section_codec.h"

namespace scopevm::lab {

class TraceReader {
 public:
  // `bytes` must outlive the reader. Errors: kInvalidModel (the bytes are not a trace of this
  // version).
  static Result<TraceReader> open(std::span<const uint8_t> bytes);

  // The next event, or no value after the last one. Errors: kInvalidModel, with the position.
  Result<std::optional<Event>> next();

  const TraceTables& tables() const { return tables_; }
  const std::string& command() const { return command_; }
  // The counts of the events that next() has returned. After the last event, also the lost events.
  const TraceTotals& totals() const { return totals_; }
  // After the last event: what the trace lacks, as a sentence; empty if it is complete.
  std::string gap() const;

 private:
  explicit TraceReader(std::span<const uint8_t> bytes) : bytes_(bytes), events_({}) {}

  Status read_section();
  Status read_contents(SectionKind kind, std::span<const uint8_t> contents);
  Status read_properties(Decoder decoder);
  Status read_strings(Decoder decoder);
  Status read_stacks(Decoder decoder);
  Status read_scopes(Decoder decoder);
  Status begin_events(Decoder decoder);
  Status read_end(Decoder decoder);
  Result<Event> read_event();
  Status read_fields(uint8_t tag, Event& event);
  Status check(const Event& event);
  void apply(const Event& event);
  Status error(const std::string& what) const;

  std::span<const uint8_t> bytes_;
  size_t position_ = 0;  // of the section that follows
  size_t section_start_ = 0;
  bool is_cut_ = false;
  bool at_end_ = false;
  std::string command_;
  TraceTables tables_;
  TraceTotals totals_;
  std::vector<uint8_t> depths_ = {0};     // by stack
  std::vector<bool> is_live_;             // by block
  std::vector<uint32_t> scope_of_block_;  // by block
  Decoder events_;                        // the rest of the current section of events
  Event previous_;
};

}  // namespace scopevm::lab
