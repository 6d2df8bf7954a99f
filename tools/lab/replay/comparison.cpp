// Medians, fragmentation, and the output of a comparison; see comparison.h.
#include "tools/lab/replay/comparison.h"

#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <nlohmann/json.hpp>
#include <thread>

#include "runtime/count_text.h"
#include "tools/files/json_output.h"
#include "tools/files/standard_streams.h"

namespace scopevm::lab {
namespace {

using Json = nlohmann::ordered_json;
using runtime::count_text;

constexpr double kMiB = 1 << 20;

template <typename T>
T median(std::vector<T> values) {
  std::ranges::nth_element(values, values.begin() + static_cast<long>(values.size() / 2));
  return values[values.size() / 2];
}

// The median of one measure of all rounds.
template <typename Measure>
auto median_of(const std::vector<ReplayMeasurement>& rounds, Measure measure) {
  std::vector<std::decay_t<decltype(measure(rounds.front()))>> values;
  for (const ReplayMeasurement& round : rounds) values.push_back(measure(round));
  return median(std::move(values));
}

std::string number(double value, const char* unit = "") {
  return value < 0 ? "-" : fmt::format("{:.{}f}{}", value, value < 100 ? 1 : 0, unit);
}

std::string ratio(double value) { return value < 0 ? "-" : fmt::format("{:.2f}", value); }

std::string percent(double part) { return number(part < 0 ? part : part * 100, "%"); }

std::string integer(int64_t value) { return value < 0 ? "-" : std::to_string(value); }

// Resident memory over time: 16 bars of 8 heights, up to the largest peak of all allocators.
std::string bars(const ReplayMeasurement& measured, uint64_t largest) {
  constexpr int kBars = 16;
  constexpr int kPerBar = kMemorySamples / kBars;
  const char* const heights[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  std::string text;
  for (int bar = 0; bar < kBars; ++bar) {
    const uint64_t* first = measured.resident + static_cast<ptrdiff_t>(bar) * kPerBar;
    const uint64_t bytes = *std::max_element(first, first + kPerBar);
    text += heights[largest == 0 ? 0 : bytes * 8 / largest];
  }
  return text;
}

constexpr char kRow[] =
    "{:<16}{:>8}{:>8}{:>8}{:>8}  {:>8}{:>10}{:>10}{:>10}{:>10}{:>9}{:>7}{:>9}  {}\n";

std::string gap_text(const BestPlan& plan, const ReplayMeasurement& median) {
  if (plan.height == 0) return "-";
  return fmt::format("{:+.1f}%", 100 * gap_to(plan, median.peak_resident));
}

std::string plan_text(const BestPlan& plan) {
  const int64_t above = plan.height - plan.lower_bound;
  return fmt::format("best plan: {:.1f} MiB, {}", static_cast<double>(plan.height) / kMiB,
                     above == 0 ? "proved optimal"
                                : fmt::format("at most {} above the optimum",
                                              count_text(static_cast<uint64_t>(above), "byte")));
}

void print_row(const ComparedAllocator& allocator, const Comparison& comparison, uint64_t largest) {
  const ReplayMeasurement& median = allocator.median;
  const Fragmentation part = fragmentation_of(median, comparison.schedule.peak_live_bytes);
  tool::print(
      kRow, allocator.name, number(median.p50_ns), number(median.p99_ns), number(median.mean_ns),
      number(median.touched_ns), number(static_cast<double>(median.peak_resident) / kMiB),
      ratio(part.reserved_to_live), gap_text(comparison.plan, median), percent(part.internal),
      percent(part.external), integer(static_cast<int64_t>(median.minor_faults)),
      integer(static_cast<int64_t>(median.major_faults)), integer(median.system_calls),
      bars(median, largest));
}

uint32_t thread_count(const Comparison& comparison) {
  return comparison.options.has_threads ? comparison.schedule.threads : 1;
}

Json context_json(const Comparison& comparison) {
  char host[256] = "";
  gethostname(host, sizeof(host) - 1);
  char date[64] = "";
  const std::time_t now = std::time(nullptr);
  tm local = {};
  if (localtime_r(&now, &local) != nullptr)
    std::strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%S%z", &local);
  return {{"date", date},
          {"host_name", host},
          {"executable", "scopevm alloc compare"},
          {"num_cpus", std::thread::hardware_concurrency()},
          {"library_build_type", "release"},
          {"trace", comparison.trace},
          {"threads", thread_count(comparison)},
          {"touches_pages", comparison.options.touches_pages},
          {"peak_live_bytes", comparison.schedule.peak_live_bytes},
          {"best_plan_bytes", comparison.plan.height},
          {"best_plan_lower_bound_bytes", comparison.plan.lower_bound},
          {"best_plan_is_optimal", comparison.plan.is_optimal}};
}

Json counters_json(const ReplayMeasurement& median, const Comparison& comparison) {
  Json json = {{"p50_ns", median.p50_ns},
               {"p99_ns", median.p99_ns},
               {"allocate_p50_ns", median.kind_p50_ns[0]},
               {"allocate_p99_ns", median.kind_p99_ns[0]},
               {"release_p50_ns", median.kind_p50_ns[1]},
               {"release_p99_ns", median.kind_p99_ns[1]},
               {"reallocate_p50_ns", median.kind_p50_ns[2]},
               {"reallocate_p99_ns", median.kind_p99_ns[2]},
               {"touched_ns", median.touched_ns},
               {"peak_resident_bytes", median.peak_resident},
               {"minor_faults", median.minor_faults},
               {"major_faults", median.major_faults}};
  if (comparison.plan.height > 0)
    json["gap_to_best_plan"] = gap_to(comparison.plan, median.peak_resident);
  const Fragmentation part = fragmentation_of(median, comparison.schedule.peak_live_bytes);
  if (part.reserved_to_live >= 0) json["reserved_to_live"] = part.reserved_to_live;
  if (part.internal >= 0) json["internal_fragmentation"] = part.internal;
  if (part.external >= 0) json["external_fragmentation"] = part.external;
  if (median.system_calls >= 0) json["system_calls"] = median.system_calls;
  json["resident_bytes"] = median.resident;
  return json;
}

Json benchmark_json(const ComparedAllocator& allocator, const Comparison& comparison) {
  const ReplayMeasurement& median = allocator.median;
  const std::string name = "replay/" + allocator.name;
  Json json = {{"name", name},
               {"run_name", name},
               {"run_type", "iteration"},
               {"repetitions", allocator.rounds},
               {"threads", thread_count(comparison)}};
  if (!allocator.problem.empty()) {
    json["error_occurred"] = true;
    json["error_message"] = allocator.problem;
    return json;
  }
  json["iterations"] = comparison.schedule.operations;
  json["real_time"] = median.elapsed_ns;
  json["cpu_time"] = median.mean_ns;
  json["time_unit"] = "ns";
  json.update(counters_json(median, comparison));
  return json;
}

}  // namespace

ReplayMeasurement median_of(const std::vector<ReplayMeasurement>& rounds) {
  using M = ReplayMeasurement;
  M median = rounds.front();
  median.mean_ns = median_of(rounds, [](const M& m) { return m.mean_ns; });
  median.elapsed_ns = median_of(rounds, [](const M& m) { return m.elapsed_ns; });
  median.p50_ns = median_of(rounds, [](const M& m) { return m.p50_ns; });
  median.p99_ns = median_of(rounds, [](const M& m) { return m.p99_ns; });
  median.touched_ns = median_of(rounds, [](const M& m) { return m.touched_ns; });
  median.minor_faults = median_of(rounds, [](const M& m) { return m.minor_faults; });
  median.major_faults = median_of(rounds, [](const M& m) { return m.major_faults; });
  median.peak_resident = median_of(rounds, [](const M& m) { return m.peak_resident; });
  median.resident_at_peak = median_of(rounds, [](const M& m) { return m.resident_at_peak; });
  median.usable_at_peak = median_of(rounds, [](const M& m) { return m.usable_at_peak; });
  for (int kind = 0; kind < 3; ++kind) {
    median.kind_p50_ns[kind] = median_of(rounds, [=](const M& m) { return m.kind_p50_ns[kind]; });
    median.kind_p99_ns[kind] = median_of(rounds, [=](const M& m) { return m.kind_p99_ns[kind]; });
  }
  for (int i = 0; i < kMemorySamples; ++i)
    median.resident[i] = median_of(rounds, [=](const M& m) { return m.resident[i]; });
  return median;
}

Fragmentation fragmentation_of(const ReplayMeasurement& measured, uint64_t live_bytes) {
  Fragmentation out;
  if (measured.resident_at_peak < 0 || live_bytes == 0) return out;
  const auto live = static_cast<double>(live_bytes);
  const auto resident = static_cast<double>(measured.resident_at_peak);
  out.reserved_to_live = resident / live;
  if (measured.usable_at_peak <= 0) return out;
  const auto usable = static_cast<double>(measured.usable_at_peak);
  out.internal = std::max(0.0, 1 - live / usable);
  // Blocks that the program has not touched are not resident.
  out.external = resident > usable ? 1 - usable / resident : 0;
  return out;
}

void print_table(const Comparison& comparison) {
  const Schedule& schedule = comparison.schedule;
  tool::print("{}: {}, {:.1f} MiB live at the peak\n\n", comparison.trace,
              count_text(schedule.operations, "operation"),
              static_cast<double>(schedule.peak_live_bytes) / kMiB);
  tool::print("{:<16}{:^32}  {:^48}{:^16}{:>9}  {}\n", "", "ns per operation", "memory at the peak",
              "page faults", "system", "resident");
  tool::print(kRow, "allocator", "p50", "p99", "mean", "touched", "MiB", "RSS/live", "to plan",
              "internal", "external", "minor", "major", "calls", "over time");
  uint64_t largest = 0, missing = 0;
  for (const ComparedAllocator& allocator : comparison.allocators)
    largest = std::max(largest, allocator.median.peak_resident);
  for (const ComparedAllocator& allocator : comparison.allocators) {
    if (allocator.problem.empty()) {
      print_row(allocator, comparison, largest);
    } else {
      tool::print("{:<16}not measured: {}\n", allocator.name, allocator.problem);
      ++missing;
    }
  }
  if (comparison.plan.height > 0) tool::print("\n{}\n", plan_text(comparison.plan));
  if (missing > 0)
    tool::print("\n{} of {} not measured\n", missing,
                count_text(comparison.allocators.size(), "allocator"));
}

std::string json_of(const Comparison& comparison) {
  Json benchmarks = Json::array();
  for (const ComparedAllocator& allocator : comparison.allocators)
    benchmarks.push_back(benchmark_json(allocator, comparison));
  return tool::json_text({{"context", context_json(comparison)}, {"benchmarks", benchmarks}});
}

}  // namespace scopevm::lab
