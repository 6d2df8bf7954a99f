// Stores the events of this process in its spool. None of these functions allocates memory, changes
// errno, or fails: an event that cannot be stored is counted as lost.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tools/scopevm_record/spool.h"

namespace scopevm::record {

struct RecordedEvent {
  RecordKind kind;
  uint64_t address;
  size_t size = 0;
  size_t alignment = 0;
};

// Stores an event. `caller` is the return address of the hooked function. Thread-safe. Events of an
// allocator call that the recorder itself causes are ignored.
void store(const RecordedEvent& event, uint64_t ticks, const void* caller);

}  // namespace scopevm::record
