// Tracer: sends the events of a call's runs to a TraceSink. See TraceEvent in scopevm/session.h.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "runtime/device/device.h"
#include "scopevm/executor.h"
#include "scopevm/session.h"

namespace scopevm::vm {

// Used by one thread at a time, except for the ranges of parallel_for(). Exceptions of the sink
// leave all methods, except for executed() and end().
class Tracer final : public runtime::CommandObserver {
 public:
  using Clock = std::chrono::steady_clock;

  // Starts a run with at most `threads` workers. Null: the run is not traced.
  void begin(TraceSink* sink, int threads, uint64_t request_id);
  // Ends the run: records the open calls, and the whole call, which `event` describes. The sink is
  // not used afterwards. Returns the first failure of executed(), or the sink's failure.
  Status end(TraceEvent event);

  // A call of a function of the model.
  void enter(std::string_view function) { open_.push_back({function, Clock::now()}); }
  void leave();
  // A launch or copy on the calling thread, which ends now. Also records the ranges that workers
  // have run since the last event.
  void record(const TraceEvent& event, Clock::time_point start);
  // An event without a duration, which happens now.
  void record_now(const TraceEvent& event) {
    const Clock::time_point now = Clock::now();
    send(event, now, now);
  }
  // Makes `stream` report the execution of the next launch or copy, which `event` describes.
  void observe(runtime::DeviceStream& stream, const TraceEvent& event);
  // executor.parallel_for(), with the times of the ranges of each worker. Thread-safe.
  void parallel_for(Executor& executor, int64_t total, int64_t grain, Executor::Body body,
                    void* context);

  void executed(uint64_t command, Clock::time_point start, Clock::time_point end) override;

 private:
  struct OpenCall {
    std::string_view function;
    Clock::time_point start;
  };
  // The time from the first range of a worker to its last one: nanoseconds since the clock's epoch.
  struct alignas(64) WorkerTime {
    std::atomic<int64_t> start;
    std::atomic<int64_t> end;
  };
  struct TracedLoop;

  void send(TraceEvent event, Clock::time_point start, Clock::time_point end);
  void clear_worker_times();

  TraceSink* sink_ = nullptr;
  uint64_t request_id_ = 0;
  Clock::time_point start_;
  std::vector<OpenCall> open_;  // calls of functions that have not returned, outermost first
  std::unique_ptr<WorkerTime[]> worker_times_;
  int threads_ = 0;
  // Launches and copies whose execution has not been reported, by command number. Numbers are not
  // reused in later runs.
  std::unordered_map<uint64_t, TraceEvent> submitted_;
  uint64_t next_command_ = 0;
  Status failure_;  // of executed()
};

// Sends the waits of a submitted call to its sink: for memory until `admitted`, and for a worker
// until `end`. A call that was not admitted has waited for memory only. `status`: why it ended
// without a run. Errors: an exception of the sink.
Status record_waits(const CallOptions& options, Tracer::Clock::time_point submitted,
                    std::optional<Tracer::Clock::time_point> admitted,
                    Tracer::Clock::time_point end, StatusCode status);

// options.request_id, or a number that is unique in the process if it is 0.
uint64_t request_id_of(const CallOptions& options);

}  // namespace scopevm::vm
