// Compiles a graph through the public API, runs it, compares every result with the reference and
// checks the memory bounds. This happens in a child process, so that a crash or a hang becomes a
// Finding.
#pragma once

#include <string>

#include "tests/property/check/verdict.h"
#include "tests/property/random/random_graph.h"
#include "tests/property/random/scatter.h"

namespace scopevm::compiler::property {

struct CheckOptions {
  std::string cpu = "x86-64-v3";
  int cpu_seconds = 60;
  // Places the ops on a machine with three devices. The placement rules depend only on the graph's
  // assembly.
  bool is_scattered = false;
  // The same on a machine with an OpenCL device, which shares memory with the host.
  bool has_gpu = false;
  // The same on a machine whose three devices are those of different ranks, each of which a thread
  // runs.
  bool has_ranks = false;
  // Splits the graph over ranks, each of which a thread runs, in a way that depends only on the
  // graph's assembly. A graph that cannot be split is refused.
  bool is_split = false;
  // Moves ops into functions that the graph calls. Half of the graphs are compiled without
  // inlining.
  bool is_outlined = false;
  // Offers the ops to an external library (external_ops.h).
  bool is_external = false;
  // Annotates some ops with places, by sv.on_device and sv.device_copy.
  bool is_pinned = false;
  // Checks the reasons for copies instead of results. Annotates some ops with places.
  bool is_explained = false;
  // Compares what explain<MemoryExplanation>() reports with the memory bounds, instead of results.
  bool is_planned = false;
  // Compares the costs of placements with and without an additional pool instead of results.
  bool is_pooled = false;
  // Measures memory plans instead of results.
  bool measures_plans = false;
  // Limits the workspace to a fraction of the bytes that the graph needs. The fraction depends only
  // on the graph's assembly.
  bool is_squeezed = false;

  bool is_placed() const { return is_scattered || has_gpu || has_ranks; }
  // REQUIRES: is_placed().
  Devices devices() const {
    if (has_ranks) return Devices::kRanks;
    return has_gpu ? Devices::kGpu : Devices::kCpus;
  }
};

// REQUIRES: the calling process has one thread.
Verdict check_graph(const GraphCase& graph, const CheckOptions& options = {});

// Describes the first element of `actual` that is outside the error bound of `expected`; empty if
// there is none.
std::string first_difference(const Array& expected, DType dtype, const void* actual);

}  // namespace scopevm::compiler::property
