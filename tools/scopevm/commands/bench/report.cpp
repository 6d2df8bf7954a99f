// Prints the report of scopevm bench; see report.h.
#include "tools/scopevm/commands/bench/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "runtime/count_text.h"
#include "tools/files/standard_streams.h"
#include "tools/scopevm/commands/run/latency.h"

namespace scopevm::tool {
namespace {

using Json = nlohmann::ordered_json;
using runtime::count_text;

constexpr size_t kBarWidth = 40;

// A rate in units of 1e9 per second; no value if the bytes of the kernel are unknown.
std::optional<double> gigabytes_per_second(const KernelTimes& kernel) {
  if (kernel.bytes == 0 || kernel.ns == 0) return std::nullopt;
  return static_cast<double>(kernel.bytes) / static_cast<double>(kernel.ns);
}

// No value if the number of operations is unknown.
std::optional<double> gigaflops_per_second(const KernelTimes& kernel) {
  if (!kernel.flops || kernel.ns == 0) return std::nullopt;
  return *kernel.flops / static_cast<double>(kernel.ns);
}

std::optional<double> flops_per_byte(const KernelTimes& kernel) {
  if (!kernel.flops || kernel.bytes == 0) return std::nullopt;
  return *kernel.flops / static_cast<double>(kernel.bytes);
}

// The roofline model (Williams, Waterman, Patterson: Roofline, 2009): the share of
// min(peak, flops_per_byte() * bandwidth), which is the larger one of the shares of both limits. If
// the number of operations is unknown, the share of the bandwidth. The measured limits are those of
// the host.
std::optional<double> share_of_limit(const KernelTimes& kernel,
                                     const BenchReport::Kernels& profile) {
  const std::optional<double> rate = gigabytes_per_second(kernel);
  if (!rate || kernel.device != "cpu" || profile.limits.read_bytes_per_second <= 0)
    return std::nullopt;
  const double of_bandwidth = *rate * 1e9 / profile.limits.read_bytes_per_second;
  const std::optional<double> flops = gigaflops_per_second(kernel);
  if (!flops || profile.limits.flops_per_second <= 0) return of_bandwidth;
  return std::max(of_bandwidth, *flops * 1e9 / profile.limits.flops_per_second);
}

double share_of_time(const KernelTimes& kernel, const BenchReport::Kernels& profile) {
  return static_cast<double>(kernel.ns) /
         static_cast<double>(std::max<int64_t>(profile.call_ns, 1));
}

std::string number(std::optional<double> value, int digits) {
  return value ? fmt::format("{:.{}f}", *value, digits) : "-";
}

// "pool1, pool2 and 3 others".
std::string ops_text(const std::vector<std::string>& ops) {
  constexpr size_t kMostNamed = 3;
  const size_t named = ops.size() > kMostNamed ? kMostNamed - 1 : ops.size();
  const std::string names = fmt::format("{}", fmt::join(ops.begin(), ops.begin() + named, ", "));
  return named == ops.size() ? names : fmt::format("{} and {} others", names, ops.size() - named);
}

void print_histogram(const Latency& latency) {
  const std::vector<Latency::Bin> bins = latency.histogram();
  const size_t most = std::ranges::max(bins, {}, &Latency::Bin::count).count;
  for (const Latency::Bin& bin : bins) {
    const size_t length = (bin.count * kBarWidth + most - 1) / most;
    const std::string range = std::isinf(bin.end_us)
                                  ? fmt::format("{:>10g} or more", bin.begin_us)
                                  : fmt::format("{:>10g} to {:<10g}", bin.begin_us, bin.end_us);
    print("{:<24} {:>8} {}\n", range, bin.count, std::string(length, '#'));
  }
}

void print_profile(const BenchReport::Kernels& profile) {
  print("profile of {}, one at a time; limits of this machine: {:.1f} GFLOP/s, {:.1f} GB/s\n",
        count_text(profile.calls, "call"), profile.limits.flops_per_second / 1e9,
        profile.limits.read_bytes_per_second / 1e9);
  print("{:>9} {:>12} {:>7} {:>8} {:>8} {:>9}  {}\n", "launches", "us per call", "share", "GFLOP/s",
        "GB/s", "of limit", "kernel: ops");
  const double calls = static_cast<double>(std::max<int64_t>(profile.calls, 1));
  double rest = 1;
  for (const KernelTimes& kernel : profile.kernels) {
    const double share = share_of_time(kernel, profile);
    rest -= share;
    const std::optional<double> limit = share_of_limit(kernel, profile);
    print("{:>9} {:>12.2f} {:>6.1f}% {:>8} {:>8} {:>9}  {}{}\n", kernel.launches,
          static_cast<double>(kernel.ns) / 1e3 / calls, 100 * share,
          number(gigaflops_per_second(kernel), 1), number(gigabytes_per_second(kernel), 1),
          limit ? fmt::format("{:.0f}%", 100 * *limit) : "-", kernel.kernel,
          kernel.ops.empty() ? "" : ": " + ops_text(kernel.ops));
  }
  print("{:>9} {:>12.2f} {:>6.1f}% {:>8} {:>8} {:>9}  outside of kernels\n", "-",
        std::max(rest, 0.0) * static_cast<double>(profile.call_ns) / 1e3 / calls,
        100 * std::max(rest, 0.0), "-", "-", "-");
}

Json latency_json(const Latency& latency) {
  return {{"min", latency.min_us()},          {"median", latency.median_us()},
          {"mean", latency.mean_us()},        {"p90", latency.quantile_us(0.9)},
          {"p99", latency.quantile_us(0.99)}, {"max", latency.max_us()}};
}

template <typename T>
Json optional_json(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json profile_json(const BenchReport::Kernels& profile) {
  Json kernels = Json::array();
  for (const KernelTimes& kernel : profile.kernels)
    kernels.push_back({{"kernel", kernel.kernel},
                       {"ops", ops_text(kernel.ops)},
                       {"device", kernel.device},
                       {"launches", kernel.launches},
                       {"us", static_cast<double>(kernel.ns) / 1e3},
                       {"share", share_of_time(kernel, profile)},
                       {"bytes", kernel.bytes == 0 ? Json(nullptr) : Json(kernel.bytes)},
                       {"flops", optional_json(kernel.flops)},
                       {"flops_per_byte", optional_json(flops_per_byte(kernel))},
                       {"gflop_per_second", optional_json(gigaflops_per_second(kernel))},
                       {"gb_per_second", optional_json(gigabytes_per_second(kernel))},
                       {"share_of_limit", optional_json(share_of_limit(kernel, profile))}});
  return {{"calls", profile.calls},
          {"us", static_cast<double>(profile.call_ns) / 1e3},
          {"limits",
           {{"flops_per_second", profile.limits.flops_per_second},
            {"read_bytes_per_second", profile.limits.read_bytes_per_second}}},
          {"kernels", std::move(kernels)}};
}

}  // namespace

void print_bench(const BenchReport& report) {
  print("module and session: {:.1f} ms\n", report.load_ms);
  if (report.warm_up) {
    const auto first = static_cast<double>(report.warm_up->latency_ns.front()) / 1e3;
    print("warm-up: {}, first {:.1f} us, median {:.1f} us\n",
          count_text(report.warm_up->latency_ns.size(), "request"), first,
          Latency(report.warm_up->latency_ns).median_us());
  }
  const size_t requests = report.load.latency_ns.size();
  print("{} of {}, {} in flight, {} per loop\n", count_text(requests, "request"),
        report.load.function, report.in_flight, count_text(report.threads, "thread"));
  print("throughput: {:.1f} requests per second\n",
        static_cast<double>(requests) / report.load.seconds);
  const Latency latency(report.load.latency_ns);
  print("latency, us: min {:.1f}, median {:.1f}, mean {:.1f}, p90 {:.1f}, p99 {:.1f}, max {:.1f}\n",
        latency.min_us(), latency.median_us(), latency.mean_us(), latency.quantile_us(0.9),
        latency.quantile_us(0.99), latency.max_us());
  print_histogram(latency);
  print("{:<8} {:<20} {:>14} {:>14} {:>18}\n", "device", "scope", "bound", "peak",
        "peak of all calls");
  for (size_t i = 0; i < report.load.memory.size(); ++i) {
    const ScopePeak& use = report.load.memory[i];
    if (use.bound_bytes == 0 && use.peak_bytes == 0) continue;
    print("{:<8} {:<20} {:>14} {:>14} {:>18}\n", use.device, use.scope, use.bound_bytes,
          use.peak_bytes, report.memory[i].memory.peak_bytes);
  }
  if (report.profile) print_profile(*report.profile);
}

Json bench_json(const BenchReport& report) {
  const Latency latency(report.load.latency_ns);
  const auto requests = report.load.latency_ns.size();
  Json out = {{"module", report.module},         {"function", report.load.function},
              {"load_us", report.load_ms * 1e3}, {"in_flight", report.in_flight},
              {"workers", report.workers},       {"threads", report.threads}};
  if (report.warm_up)
    out["warm_up"] = {{"requests", report.warm_up->latency_ns.size()},
                      {"first_us", static_cast<double>(report.warm_up->latency_ns.front()) / 1e3},
                      {"median_us", Latency(report.warm_up->latency_ns).median_us()}};
  out["requests"] = requests;
  out["seconds"] = report.load.seconds;
  out["requests_per_second"] = static_cast<double>(requests) / report.load.seconds;
  out["latency_us"] = latency_json(latency);
  out["histogram"] = Json::array();
  for (const Latency::Bin& bin : latency.histogram())
    out["histogram"].push_back(
        {{"from_us", bin.begin_us},
         {"to_us", std::isinf(bin.end_us) ? Json(nullptr) : Json(bin.end_us)},
         {"count", bin.count}});
  out["memory"] = Json::array();
  for (size_t i = 0; i < report.load.memory.size(); ++i) {
    const ScopePeak& use = report.load.memory[i];
    out["memory"].push_back({{"device", use.device},
                             {"scope", use.scope},
                             {"bound_bytes", use.bound_bytes},
                             {"peak_bytes", use.peak_bytes},
                             {"all_calls_peak_bytes", report.memory[i].memory.peak_bytes}});
  }
  if (report.profile) out["profile"] = profile_json(*report.profile);
  return out;
}

}  // namespace scopevm::tool
