// The operations of a trace in a form that a worker process executes without any work of its own:
// an array in shared memory. The worker must not allocate from the heap that it measures.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "scopevm/status.h"
#include "tools/lab/trace/event.h"

namespace scopevm::lab {

struct Operation {
  uint64_t size;
  uint32_t slot;  // of the block; reused by later blocks
  uint32_t step;  // number of earlier operations on the slot
  uint32_t thread;
  uint16_t scope;
  EventKind kind;
  uint8_t alignment_log2 : 7;  // 0: no required alignment
  uint8_t is_zeroed : 1;
};
static_assert(sizeof(Operation) == 24);

// Precedes the operations in shared memory.
struct Schedule {
  uint64_t operations = 0;
  uint64_t slots = 0;
  uint32_t threads = 0;
  uint32_t scopes = 0;
  uint64_t counts[3] = {};  // of operations, by EventKind
  uint64_t peak_live_bytes = 0;
  uint64_t peak_operation = 0;  // the operation after which peak_live_bytes are live
  uint64_t alignment = 0;       // the largest required one

  const Operation* begin() const { return reinterpret_cast<const Operation*>(this + 1); }
};

// A schedule in a file without a name, whose descriptor child processes inherit.
class ScheduleFile {
 public:
  // Reads a trace. Prints a warning if it is incomplete. Unless `has_mappings`, skips the events of
  // kMappingScope, and prints their number. Errors: those of open_trace(), kInvalidModel,
  // kOutOfMemory.
  static Result<ScheduleFile> load(const std::string& trace_path, bool has_mappings);
  // Maps the schedule whose descriptor a parent process has passed. Null if it cannot be mapped.
  static const Schedule* map(int descriptor);

  ScheduleFile(ScheduleFile&& other) noexcept;
  ScheduleFile& operator=(ScheduleFile&&) = delete;
  ~ScheduleFile();

  int descriptor() const { return descriptor_; }
  const Schedule& schedule() const { return schedule_; }

 private:
  ScheduleFile() = default;

  int descriptor_ = -1;
  Schedule schedule_;
};

}  // namespace scopevm::lab
