// The report of `scopevm bench`, as text and as JSON.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "tools/machine_peak/machine_peak.h"
#include "tools/scopevm/commands/bench/load.h"
#include "tools/scopevm/commands/bench/profile.h"

namespace scopevm::tool {

struct BenchReport {
  std::string module;  // its file
  double load_ms = 0;  // time to load the module and create the session
  int in_flight = 1;
  int workers = 0;  // of the scheduler; 0: none
  int threads = 1;  // of a parallel loop
  std::optional<LoadResult> warm_up;
  LoadResult load;
  std::vector<ScopeStats> memory;  // of the session: all calls and results
  struct Kernels {
    std::vector<KernelTimes> kernels;
    int64_t calls = 0;
    int64_t call_ns = 0;
    machine_peak::Limits limits;
  };
  std::optional<Kernels> profile;
};

void print_bench(const BenchReport& report);
nlohmann::ordered_json bench_json(const BenchReport& report);

}  // namespace scopevm::tool
