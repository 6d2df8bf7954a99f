// The measurements of `alloc compare`, and their output as a table or as JSON.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/lab/replay/best_plan.h"
#include "tools/lab/replay/worker/schedule.h"
#include "tools/lab/replay/worker/worker.h"

namespace scopevm::lab {

// The median of each measure over the rounds of one allocator.
struct ComparedAllocator {
  std::string name;
  std::string problem;  // why there are no measurements; empty: there are
  ReplayMeasurement median;
  int rounds = 0;
};

struct Comparison {
  std::string trace;
  Schedule schedule;
  ReplayOptions options;
  BestPlan plan;
  std::vector<ComparedAllocator> allocators;
};

// The median of each measure. REQUIRES: `rounds` is not empty.
ReplayMeasurement median_of(const std::vector<ReplayMeasurement>& rounds);

// Resident bytes of allocator and program per live byte; and the parts of the resident memory that
// are the rest of blocks (internal fragmentation), and outside of blocks (external fragmentation).
// Values are negative if they are unknown.
struct Fragmentation {
  double reserved_to_live = -1;
  double internal = -1;
  double external = -1;
};
Fragmentation fragmentation_of(const ReplayMeasurement& measured, uint64_t live_bytes);

void print_table(const Comparison& comparison);
// JSON in the form of Google Benchmark, which its tools and others read.
std::string json_of(const Comparison& comparison);

}  // namespace scopevm::lab
