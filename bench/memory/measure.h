// Measures one allocator with one trace, in this process; see allocators_bench.cpp.
#pragma once

#include <cstdint>
#include <string>

#include "bench/memory/traces.h"

namespace scopevm::bench {

struct Measurement {
  double pair_ns = 0;    // CPU time per allocation and deallocation
  double p50_ns = 0;     // of groups of 16 pairs, per pair; elapsed time
  double p99_ns = 0;     // likewise
  double rss_ratio = 0;  // peak growth of the resident set divided by the peak of live bytes
  double faults = 0;     // page faults per pair, after the first run of the trace
};

enum class Work : uint8_t {
  kUntouched,   // blocks are not accessed
  kTouched,     // each page of each block is written
  kTwoThreads,  // two threads run the trace concurrently
  kRemote,      // a thread allocates, a second one deallocates
};

// Measures allocator `name`: a name of make_allocator(), "malloc" for aligned_alloc() and free(),
// or "none" for the driver alone, which requires Work::kUntouched.
Measurement measure(const std::string& name, const Trace& trace, Work work);

}  // namespace scopevm::bench
