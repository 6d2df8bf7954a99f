// Writes a memory trace; see docs/memory-trace.md.
#pragma once

#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "scopevm/status.h"
#include "tools/lab/trace/event.h"
#include "tools/lab/trace/section_codec.h"

namespace scopevm::lab {

// Collects the file in a temporary file without a name, so that a long recording needs no more
// memory than a short one. The first error of the system is reported by finish(). Not thread-safe.
class TraceWriter {
 public:
  // `command` describes what was recorded, for readers.
  explicit TraceWriter(std::string_view command);

  // The index of a scope or stack; equal arguments have equal indices.
  uint32_t scope(std::string_view name);
  uint32_t stack(uint32_t caller, std::string_view frame);

  // Events are in the order of time. Returns the number of the block, which later events of the
  // block pass in `block`.
  uint64_t allocate(Event event);
  void reallocate(Event event);
  void release(Event event);

  // Ends the trace. Errors: kInvalidArgument (the temporary file could not be written).
  Result<TraceTotals> finish(uint64_t lost_events = 0, uint64_t unknown_releases = 0);
  // The temporary file. REQUIRES: finish() succeeded.
  std::FILE* file() const { return file_.get(); }

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  // The values of the previous event of the section, relative to which the next event is
  // encoded.
  struct Previous {
    uint64_t time_ns = 0;
    uint64_t address = 0;
    uint32_t thread = 0;
    uint32_t scope = 0;
    uint32_t stack = 0;
  };

  uint32_t string(std::string_view text);
  void prepare_event();
  void begin_event(const Event& event, uint8_t tag);
  void encode_block(const Event& event, uint8_t tag);
  void flush_events();
  void write_section(SectionKind kind, Encoder& contents);
  void write(std::string_view bytes);

  std::unique_ptr<std::FILE, Close> file_;
  int error_ = 0;
  TraceTotals totals_;
  std::unordered_map<std::string, uint32_t> strings_;
  std::unordered_map<std::string, uint32_t> scopes_;
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> stacks_;  // (caller, frame) -> index
  Encoder new_strings_, new_stacks_, new_scopes_, events_;
  Previous previous_;
};

}  // namespace scopevm::lab
