// The functions of the C API for metrics (scopevm/c/monitor.h): those of sessions and schedulers.
#include <algorithm>
#include <array>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "scopevm/scopevm.h"
#include "vm/api/c_support.h"
#include "vm/api/monitor/prometheus.h"
#include "vm/run/call/bound_session.h"

namespace scopevm {
namespace {

using vm::CallMetrics;
using vm::DurationHistogram;

struct SessionSource {
  std::string_view model;
  vm::BoundSession* session;
};
struct SchedulerSource {
  std::string label;
  vm::CallScheduler* scheduler;
  SchedulerStats stats;
};

// By CallOutcome.
constexpr std::array<std::string_view, vm::kCallOutcomes> kOutcomes = {
    "success", "deadline", "cancelled", "memory", "invalid", "other"};

int64_t number(const std::atomic<uint64_t>& counter) {
  return static_cast<int64_t>(counter.load(std::memory_order_relaxed));
}

void add_requests(std::span<const SessionSource> sessions, PrometheusText& text) {
  text.start("scopevm_requests_total", "counter", "Requests that ended, by outcome.");
  for (const SessionSource& source : sessions)
    for (size_t i = 0; i < kOutcomes.size(); ++i)
      text.add({{"model", source.model}, {"outcome", kOutcomes[i]}},
               number(source.session->metrics().ended[i]));
  text.start("scopevm_requests_in_flight", "gauge", "Requests that wait or run.");
  for (const SessionSource& source : sessions) {
    const CallMetrics& metrics = source.session->metrics();
    // Read before the number of started requests, so that the difference is not negative.
    int64_t ended = 0;
    for (const auto& outcome : metrics.ended) ended += number(outcome);
    text.add({{"model", source.model}}, std::max<int64_t>(number(metrics.started) - ended, 0));
  }
}

void add_histogram(std::string_view model, const DurationHistogram& histogram,
                   PrometheusText& text) {
  uint64_t count = 0;
  for (size_t i = 0; i < DurationHistogram::kBounds.size(); ++i) {
    count += histogram.count(i);
    text.add({{"model", model}, {"le", seconds_text(DurationHistogram::kBounds[i])}},
             static_cast<int64_t>(count), "_bucket");
  }
  count += histogram.count(DurationHistogram::kBounds.size());
  text.add({{"model", model}, {"le", "+Inf"}}, static_cast<int64_t>(count), "_bucket");
  text.add_seconds({{"model", model}}, histogram.sum_ns(), "_sum");
  text.add({{"model", model}}, static_cast<int64_t>(count), "_count");
}

void add_durations(std::span<const SessionSource> sessions, PrometheusText& text) {
  struct Durations {
    std::string_view name;
    std::string_view help;
    DurationHistogram CallMetrics::* histogram;
  };
  for (const auto& [name, help, histogram] :
       {Durations{
            "scopevm_request_memory_wait_seconds",
            "Time from the submission of a request to its admission, or to its end without one.",
            &CallMetrics::waited_for_memory},
        Durations{"scopevm_request_worker_wait_seconds",
                  "Time from the admission of a request to its start, or to its end without one.",
                  &CallMetrics::waited_for_worker},
        Durations{"scopevm_request_run_seconds", "Time from the start of a request to its end.",
                  &CallMetrics::ran}}) {
    text.start(name, "histogram", help);
    for (const SessionSource& source : sessions)
      add_histogram(source.model, source.session->metrics().*histogram, text);
  }
}

// The gauges of the pools of all sessions. Values below 0 are omitted.
void add_memory(std::span<const SessionSource> sessions, PrometheusText& text) {
  using Memory = runtime::ScopeMemory;
  struct Gauge {
    std::string_view name;
    std::string_view help;
    int64_t (*value)(const Memory& memory);
  };
  static constexpr Gauge kGauges[] = {
      {"scopevm_pool_live_bytes", "Live bytes of requests, results and constants.",
       [](const Memory& memory) { return memory.live_bytes(); }},
      {"scopevm_pool_peak_bytes", "Maximum of the live bytes.",
       [](const Memory& memory) { return memory.stats().peak_bytes; }},
      {"scopevm_pool_cached_bytes", "Free bytes that the allocator keeps.",
       [](const Memory& memory) { return memory.stats().cached_bytes; }},
      {"scopevm_pool_limit_bytes", "Limit of the live bytes, of pools that have one.",
       [](const Memory& memory) { return memory.limit(); }}};
  for (const auto& [name, help, value] : kGauges) {
    text.start(name, "gauge", help);
    for (const SessionSource& source : sessions)
      for (uint32_t i = 0; i < source.session->pool_count(); ++i) {
        const Memory& memory = source.session->pool(i);
        if (const int64_t bytes = value(memory); bytes >= 0)
          text.add(
              {{"model", source.model}, {"device", memory.device()}, {"scope", memory.scope()}},
              bytes);
      }
  }
}

void add_schedulers(std::span<const SchedulerSource> schedulers, PrometheusText& text) {
  text.start("scopevm_scheduler_workers", "gauge", "Threads that run requests.");
  for (const SchedulerSource& source : schedulers)
    text.add({{"scheduler", source.label}}, source.scheduler->workers());
  text.start("scopevm_scheduler_requests", "gauge", "Requests of all sessions, by state.");
  for (const SchedulerSource& source : schedulers)
    for (const auto& [state, count] : {std::pair("waiting_for_memory", source.stats.waiting),
                                       std::pair("waiting_for_worker", source.stats.ready),
                                       std::pair("running", source.stats.running)})
      text.add({{"scheduler", source.label}, {"state", state}}, static_cast<int64_t>(count));
  struct Bytes {
    std::string_view name;
    std::string_view help;
    int64_t PoolUse::* bytes;
  };
  for (const auto& [name, help, bytes] :
       {Bytes{"scopevm_scheduler_pool_capacity_bytes", "Capacity of a pool.",
              &PoolUse::capacity_bytes},
        Bytes{"scopevm_scheduler_pool_reserved_bytes", "Bytes of admitted requests.",
              &PoolUse::reserved_bytes},
        Bytes{"scopevm_scheduler_pool_held_bytes",
              "Bytes of results that are not released, and of constants.", &PoolUse::held_bytes}}) {
    text.start(name, "gauge", help);
    for (const SchedulerSource& source : schedulers)
      for (const PoolUse& pool : source.stats.pools)
        text.add({{"scheduler", source.label}, {"pool", pool.pool}}, pool.*bytes);
  }
}

Result<std::string> prometheus_text(std::span<const scopevm_metrics_source> sources) {
  std::set<std::string> names;  // as the text has them
  std::vector<SessionSource> sessions;
  std::vector<SchedulerSource> schedulers;
  for (const scopevm_metrics_source& source : sources) {
    SCOPEVM_RETURN_IF_ERROR(check_not_null({{source.session, "session"}}));
    SCOPEVM_ASSIGN_OR_RETURN(const std::string_view model, to_text(source.model, "model"));
    if (!names.insert(label_text(model)).second)
      return Status(StatusCode::kInvalidArgument,
                    "two sources of metrics have the name \"" + std::string(model) + "\"");
    vm::BoundSession& session = *source.session->bound;
    sessions.push_back({model, &session});
    vm::CallScheduler* const scheduler = session.scheduler().get();
    if (scheduler != nullptr &&
        std::ranges::find(schedulers, scheduler, &SchedulerSource::scheduler) == schedulers.end())
      schedulers.push_back({std::to_string(sessions.size() - 1), scheduler, scheduler->stats()});
  }
  PrometheusText text;
  add_requests(sessions, text);
  add_durations(sessions, text);
  add_memory(sessions, text);
  if (!schedulers.empty()) add_schedulers(schedulers, text);
  return std::move(text).take();
}

}  // namespace
}  // namespace scopevm

struct scopevm_metrics {
  std::string text;
};

using scopevm::checked;
using scopevm::Status;

scopevm_status* scopevm_metrics_read(const scopevm_metrics_source* sources, size_t count,
                                     size_t source_size, scopevm_metrics** out) {
  return checked({{out, "out"}}, [&]() -> Status {
    SCOPEVM_ASSIGN_OR_RETURN(
        const auto given, scopevm::read_array(sources, count, source_size,
                                              SCOPEVM_SIZE_UP_TO(scopevm_metrics_source, session),
                                              "source_size", "sources"));
    SCOPEVM_ASSIGN_OR_RETURN(std::string text, scopevm::prometheus_text(given));
    *out = new scopevm_metrics{std::move(text)};
    return {};
  });
}

const char* scopevm_metrics_text(const scopevm_metrics* metrics) {
  return metrics == nullptr ? nullptr : metrics->text.c_str();
}

void scopevm_metrics_free(scopevm_metrics* metrics) { delete metrics; }
