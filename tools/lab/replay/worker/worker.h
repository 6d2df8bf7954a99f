// The worker process of a replay: executes a schedule with one allocator, and measures it. The
// worker is this program with `--replay-worker`; it starts with the library of the allocator
// preloaded, so that resident memory and page faults are those of the allocator alone.
#pragma once

#include <cstdint>
#include <string>

#include "scopevm/status.h"
#include "tools/lab/replay/worker/allocators.h"
#include "tools/lab/replay/worker/schedule.h"

namespace scopevm::lab {

struct ReplayOptions {
  bool has_threads = false;          // one thread per thread of the trace; false: one in total
  bool touches_pages = true;         // writes one byte per page of each new block
  bool counts_system_calls = false;  // instead of measuring latencies
  double time_limit_s = 10;          // wall-clock time; slower replays stop
};

inline constexpr int kMemorySamples = 128;
inline constexpr int64_t kUnknown = -1;

// What a worker reports. Times are in nanoseconds, without the cost of the clock.
struct ReplayMeasurement {
  uint64_t counts[3] = {};  // of executed operations, by EventKind
  uint64_t failures = 0;    // allocations and reallocations that returned null
  double mean_ns = 0;       // CPU time per operation, in the allocator
  double elapsed_ns = 0;    // elapsed time per operation, in the allocator
  double p50_ns = 0;
  double p99_ns = 0;
  double kind_p50_ns[3] = {};  // by EventKind
  double kind_p99_ns[3] = {};
  double touched_ns = 0;  // mean_ns plus the time of writing the pages
  uint64_t minor_faults = 0;
  uint64_t major_faults = 0;
  int64_t system_calls = kUnknown;  // mmap, munmap, mremap, brk, madvise
  uint64_t peak_resident = 0;       // bytes, above those before the replay
  // At the operation after which most bytes are live. kUnknown with threads.
  int64_t resident_at_peak = kUnknown;
  int64_t usable_at_peak = kUnknown;       // sum of the usable sizes of live blocks
  uint64_t resident[kMemorySamples] = {};  // bytes, at equal numbers of operations
};

// Runs a worker and waits for it. Errors: kUnsupported (the allocator's library is not installed or
// could not be preloaded), kInternal (the worker failed), kOutOfMemory.
Result<ReplayMeasurement> run_worker(const ScheduleFile& schedule, const AllocatorEntry& allocator,
                                     const ReplayOptions& options);

// The main function of the worker; see run_worker(). Returns the exit code.
int worker_main(int argc, char** argv);

}  // namespace scopevm::lab
