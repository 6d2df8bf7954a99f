// The closed loop; see load.h.
#include "tools/scopevm/commands/bench/load.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <latch>
#include <memory>
#include <mutex>
#include <utility>

namespace scopevm::tool {
namespace {

using Clock = std::chrono::steady_clock;

int64_t ns_since(Clock::time_point start) {
  return std::chrono::nanoseconds(Clock::now() - start).count();
}

void keep_largest(const CallStats& stats, std::vector<ScopePeak>& memory) {
  if (memory.empty())
    for (const ScopeUse& use : stats.memory)
      memory.push_back({std::string(use.device), std::string(use.scope)});
  for (size_t i = 0; i < stats.memory.size(); ++i) {
    memory[i].bound_bytes = std::max(memory[i].bound_bytes, stats.memory[i].bound_bytes);
    memory[i].peak_bytes = std::max(memory[i].peak_bytes, stats.memory[i].peak_bytes);
  }
}

// A call and its results. One request of it is in flight.
struct Lane {
  explicit Lane(Call of) : call(std::move(of)) {}
  Call call;
  Clock::time_point submitted;
  std::vector<int64_t> latency_ns;
  std::vector<ScopePeak> memory;
  std::string function;

  void ended() {
    latency_ns.push_back(ns_since(submitted));
    keep_largest(call.stats(), memory);
    function = call.stats().function;
    call.clear_outputs();
  }
};

class ClosedLoop {
 public:
  ClosedLoop(int64_t requests, int lanes, TraceSink* trace)
      : left_(requests), idle_(lanes), trace_(trace) {}

  // Runs until no request is left.
  Status run(std::vector<std::unique_ptr<Lane>>& lanes) {
    for (const std::unique_ptr<Lane>& lane : lanes) submit(*lane);
    idle_.wait();
    return failure_;
  }

 private:
  void submit(Lane& lane) {
    if (has_failed_ || left_.fetch_sub(1) <= 0) {
      idle_.count_down();
      return;
    }
    lane.submitted = Clock::now();
    const Status submitted =
        lane.call.submit({.call = {.trace = trace_}}, [this, &lane](const Status& status) {
          if (!status.ok()) return fail(status);
          lane.ended();
          submit(lane);
        });
    if (!submitted.ok()) fail(submitted);
  }

  void fail(const Status& status) {
    {
      const std::lock_guard lock(mutex_);
      if (failure_.ok()) failure_ = status;
    }
    has_failed_ = true;
    idle_.count_down();
  }

  std::atomic<int64_t> left_;
  std::latch idle_;
  TraceSink* const trace_;
  std::atomic<bool> has_failed_{false};
  std::mutex mutex_;
  Status failure_;
};

Status run_here(Lane& lane, int64_t requests, TraceSink* trace) {
  for (int64_t i = 0; i < requests; ++i) {
    lane.submitted = Clock::now();
    SCOPEVM_RETURN_IF_ERROR(lane.call.run({.trace = trace}));
    lane.ended();
  }
  return {};
}

}  // namespace

Result<LoadResult> run_load(const Session& session, int64_t requests, int in_flight,
                            const Prepare& prepare, TraceSink* trace) {
  ClosedLoop loop(requests, in_flight, trace);
  std::vector<std::unique_ptr<Lane>> lanes;  // destroyed first: waits for the functions of calls
  for (int i = 0; i < in_flight; ++i) {
    SCOPEVM_ASSIGN_OR_RETURN(Call call, session.make_call());
    SCOPEVM_RETURN_IF_ERROR(prepare(call));
    lanes.push_back(std::make_unique<Lane>(std::move(call)));
  }
  const Clock::time_point start = Clock::now();
  SCOPEVM_RETURN_IF_ERROR(in_flight == 1 ? run_here(*lanes[0], requests, trace) : loop.run(lanes));
  LoadResult result;
  result.seconds = static_cast<double>(ns_since(start)) / 1e9;
  for (const std::unique_ptr<Lane>& lane : lanes) {
    if (lane->latency_ns.empty()) continue;
    result.latency_ns.insert(result.latency_ns.end(), lane->latency_ns.begin(),
                             lane->latency_ns.end());
    result.function = lane->function;
    if (result.memory.empty()) result.memory = lane->memory;
    for (size_t i = 0; i < lane->memory.size(); ++i)
      result.memory[i].peak_bytes =
          std::max(result.memory[i].peak_bytes, lane->memory[i].peak_bytes);
  }
  return result;
}

}  // namespace scopevm::tool
