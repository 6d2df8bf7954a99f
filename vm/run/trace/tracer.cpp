// Builds trace events and their times; see tracer.h.
#include "vm/run/trace/tracer.h"

#include <limits>
#include <utility>

#include "runtime/without_exceptions.h"

namespace scopevm::vm {
namespace {

int64_t nanoseconds(Tracer::Clock::duration duration) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(duration).count();
}

int64_t now_ns() { return nanoseconds(Tracer::Clock::now().time_since_epoch()); }

Tracer::Clock::time_point time_at(int64_t ns) {
  return Tracer::Clock::time_point(std::chrono::nanoseconds(ns));
}

}  // namespace

// A parallel loop whose ranges are timed.
struct Tracer::TracedLoop {
  Executor::Body body;
  void* context;
  WorkerTime* times;

  static void run_range(void* context, int64_t begin, int64_t end, int64_t worker) {
    const auto& loop = *static_cast<const TracedLoop*>(context);
    WorkerTime& time = loop.times[worker];
    int64_t start = now_ns();
    int64_t known = time.start.load(std::memory_order_relaxed);
    while (start < known && !time.start.compare_exchange_weak(known, start)) {
    }
    loop.body(loop.context, begin, end, worker);
    const int64_t stop = now_ns();
    known = time.end.load(std::memory_order_relaxed);
    while (stop > known && !time.end.compare_exchange_weak(known, stop)) {
    }
  }
};

void Tracer::begin(TraceSink* sink, int threads, uint64_t request_id) {
  sink_ = nullptr;
  if (sink == nullptr) return;
  if (worker_times_ == nullptr) {
    worker_times_ = std::make_unique<WorkerTime[]>(static_cast<size_t>(threads));
    threads_ = threads;
  }
  clear_worker_times();
  open_.clear();
  submitted_.clear();
  failure_ = Status();
  request_id_ = request_id;
  start_ = Clock::now();
  sink_ = sink;
}

void Tracer::clear_worker_times() {
  for (int i = 0; i < threads_; ++i) {
    worker_times_[i].start = std::numeric_limits<int64_t>::max();
    worker_times_[i].end = std::numeric_limits<int64_t>::min();
  }
}

Status Tracer::end(TraceEvent event) {
  if (sink_ == nullptr) return {};  // begin() failed
  Status sent = runtime::without_exceptions([&]() -> Status {
    while (!open_.empty()) leave();
    event.kind = TraceEvent::Kind::kCall;
    send(event, start_, Clock::now());
    return {};
  });
  sink_ = nullptr;
  return failure_.ok() ? sent : std::exchange(failure_, Status());
}

void Tracer::leave() {
  const OpenCall call = open_.back();
  // Removed first, so that an exception of the sink does not repeat the event.
  open_.pop_back();
  TraceEvent event;
  event.kind = TraceEvent::Kind::kFunction;
  event.name = call.function;
  send(event, call.start, Clock::now());
}

void Tracer::send(TraceEvent event, Clock::time_point start, Clock::time_point end) {
  event.start_ns = nanoseconds(start.time_since_epoch());
  event.duration_ns = nanoseconds(end - start);
  event.request_id = request_id_;
  sink_->record(event);
}

void Tracer::record(const TraceEvent& event, Clock::time_point start) {
  send(event, start, Clock::now());
  TraceEvent part = event;
  part.lane = TraceEvent::Lane::kWorker;
  for (int i = 0; i < threads_; ++i) {
    const int64_t first = worker_times_[i].start, last = worker_times_[i].end;
    if (first > last) continue;
    part.worker = i;
    send(part, time_at(first), time_at(last));
  }
  clear_worker_times();
}

void Tracer::observe(runtime::DeviceStream& stream, const TraceEvent& event) {
  TraceEvent& submitted = submitted_[next_command_];
  submitted = event;
  submitted.lane = TraceEvent::Lane::kDevice;
  stream.observe_next(*this, next_command_++);
}

void Tracer::executed(uint64_t command, Clock::time_point start, Clock::time_point end) {
  const auto found = submitted_.find(command);
  if (sink_ == nullptr || found == submitted_.end()) return;
  const TraceEvent event = found->second;
  submitted_.erase(found);
  // Streams must wait for the other commands, so an exception is reported later.
  const Status sent = runtime::without_exceptions([&]() -> Status {
    send(event, start, end);
    return {};
  });
  if (failure_.ok()) failure_ = sent;
}

void Tracer::parallel_for(Executor& executor, int64_t total, int64_t grain, Executor::Body body,
                          void* context) {
  TracedLoop loop{body, context, worker_times_.get()};
  executor.parallel_for(total, grain, TracedLoop::run_range, &loop);
}

Status record_waits(const CallOptions& options, Tracer::Clock::time_point submitted,
                    std::optional<Tracer::Clock::time_point> admitted,
                    Tracer::Clock::time_point end, StatusCode status) {
  if (options.trace == nullptr) return {};
  return runtime::without_exceptions([&]() -> Status {
    TraceEvent event;
    event.kind = TraceEvent::Kind::kWait;
    event.request_id = options.request_id;
    const auto send = [&](std::string_view name, Tracer::Clock::time_point from,
                          Tracer::Clock::time_point to) {
      event.name = name;
      event.start_ns = nanoseconds(from.time_since_epoch());
      event.duration_ns = nanoseconds(to - from);
      options.trace->record(event);
    };
    if (!admitted) event.status = status;
    send("memory", submitted, admitted.value_or(end));
    event.status = status;
    if (admitted) send("worker", *admitted, end);
    return {};
  });
}

uint64_t request_id_of(const CallOptions& options) {
  static std::atomic<uint64_t> last{0};
  if (options.request_id != 0) return options.request_id;
  return 1 + last.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace scopevm::vm
