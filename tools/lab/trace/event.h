// Data model of a memory trace: the allocations of one process, or of one run of a module, in the
// order of time. docs/memory-trace.md describes the file.
//   section_codec.h    sections of the file: kinds, variable-length integers, checksums
//   trace_writer.h   events -> file
//   trace_reader.h   file -> events
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace scopevm::lab {

enum class EventKind : uint8_t { kAllocate, kRelease, kReallocate };

struct Event {
  EventKind kind = EventKind::kAllocate;
  bool is_zeroed = false;  // an allocation that returned zeroed memory, as calloc() does
  uint32_t thread = 0;     // index, in the order of the threads' first events
  uint32_t stack = 0;      // the call stack of an allocation or reallocation; 0: unknown
  uint32_t scope = 0;      // index into TraceTables::scopes
  uint64_t time_ns = 0;    // since the start of the recording
  uint64_t block = 0;      // n for the nth allocation; a reallocation keeps the block
  uint64_t size = 0;       // of the block after the event, in bytes; 0 for a release
  uint64_t alignment = 0;  // required by the program; 0: that of malloc()
  uint64_t address = 0;    // of the block after the event; 0 for a release
};

// A call stack is its innermost frame and the stack of the caller. Stacks with equal callers share
// their entries, so the table is a tree. Entry 0 is the empty stack.
struct StackEntry {
  uint32_t caller = 0;  // index of an earlier entry
  uint32_t frame = 0;   // index into TraceTables::strings
};

struct TraceTables {
  std::vector<std::string> strings = {""};
  std::vector<StackEntry> stacks = {{}};
  std::vector<std::string> scopes;  // memory scopes, such as "heap" or "cpu.global.workspace"
};

// The counts at the end of a trace.
struct TraceTotals {
  uint64_t allocations = 0;
  uint64_t releases = 0;
  uint64_t reallocations = 0;
  uint64_t lost_events = 0;       // not recorded, because the recording reached its limit
  uint64_t unknown_releases = 0;  // of blocks that were allocated before the recording began
  bool operator==(const TraceTotals&) const = default;
};

// The scope of the anonymous mappings of a recorded program. Replays skip it by default.
inline constexpr std::string_view kMappingScope = "mmap";

// Limits of every trace. The reader rejects larger values, so that sums cannot overflow.
inline constexpr uint64_t kMaxBlockSize = uint64_t{1} << 47;
inline constexpr uint64_t kMaxAlignment = uint64_t{1} << 32;
inline constexpr uint32_t kMaxThreads = 1 << 20;
inline constexpr int kMaxStackDepth = 255;

}  // namespace scopevm::lab
