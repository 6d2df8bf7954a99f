// The anonymous mappings of a recorded program, as blocks of a trace. The accessible part of a
// mapping is memory; the inaccessible part only reserves addresses, and is not recorded.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>

#include "tools/lab/trace/event.h"
#include "tools/lab/trace/trace_writer.h"

namespace scopevm::lab {

// Calls have the time, thread, scope and stack of the events, and the range as address and size. A
// call that changes a part of a block shortens the block, and makes the rest after the part another
// block.
class Mappings {
 public:
  explicit Mappings(TraceWriter& writer) : writer_(writer) {}

  // Replaces the range by a mapping.
  void map(const Event& event, bool is_accessible);
  void unmap(const Event& event) { cut(event); }
  // Has no effect on memory outside of anonymous mappings.
  void protect(const Event& event, bool is_accessible);
  // Before and after mremap(). A failure has the address 0.
  void begin_remap(const Event& event);
  void end_remap(const Event& event);

 private:
  struct Mapping {
    uint64_t end = 0;
    bool is_accessible = false;
    uint64_t block = 0;  // of accessible memory
    uint32_t stack = 0;
  };
  // A mapping that mremap() moves.
  struct Pending {
    bool is_known = false;  // the range contained memory of mappings
    uint64_t begin = 0;
    std::optional<Mapping> mapping;  // the range was a whole mapping
  };

  void cut(const Event& event);
  void insert(Event event, bool is_accessible);

  TraceWriter& writer_;
  std::map<uint64_t, Mapping> mappings_;           // by the first address
  std::unordered_map<uint32_t, Pending> pending_;  // by thread
};

}  // namespace scopevm::lab
