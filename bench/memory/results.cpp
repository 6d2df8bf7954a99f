// Medians of measurements; see results.h.
#include "bench/memory/results.h"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

namespace scopevm::bench {
namespace {

using Json = nlohmann::ordered_json;

std::vector<double> column(const Results& results, double Measurement::* member) {
  std::vector<double> values;
  for (const Measurement& m : results.rounds) values.push_back(m.*member);
  std::ranges::sort(values);
  return values;
}

double median(const Results& results, double Measurement::* member) {
  const std::vector<double> values = column(results, member);
  return values[values.size() / 2];
}

Json json_of(const Results& results) {
  const std::string name = results.trace + "/" + results.work + "/" + results.allocator;
  Json json = {{"name", name},
               {"run_name", name},
               {"run_type", "iteration"},
               {"repetitions", results.rounds.size()}};
  if (results.rounds.empty()) {
    json["error_occurred"] = true;
    json["error_message"] = "the measurement failed";
    return json;
  }
  // Only CPU time is measured.
  const double time = median(results, &Measurement::pair_ns);
  json["iterations"] = 1;
  json["real_time"] = time;
  json["cpu_time"] = time;
  json["time_unit"] = "ns";
  json["p50_ns"] = median(results, &Measurement::p50_ns);
  json["p99_ns"] = median(results, &Measurement::p99_ns);
  json["resident_to_live"] = median(results, &Measurement::rss_ratio);
  json["faults_per_block"] = median(results, &Measurement::faults);
  return json;
}

}  // namespace

void print_header(std::string_view trace, std::string_view work) {
  std::printf("%s, %s\n  %-16s %10s %8s %10s %10s %10s %10s\n", std::string(trace).c_str(),
              std::string(work).c_str(), "allocator", "ns/pair", "+/-", "p50", "p99", "RSS/live",
              "faults");
}

void print_row(const Results& results) {
  if (results.rounds.empty()) {
    std::printf("  %-16s failed\n", results.allocator.c_str());
    return;
  }
  const std::vector<double> times = column(results, &Measurement::pair_ns);
  std::printf("  %-16s %10.1f %8.1f %10.1f %10.1f %10.2f %10.3f\n", results.allocator.c_str(),
              times[times.size() / 2], (times.back() - times.front()) / 2,
              median(results, &Measurement::p50_ns), median(results, &Measurement::p99_ns),
              median(results, &Measurement::rss_ratio), median(results, &Measurement::faults));
  std::fflush(stdout);
}

bool write_json(const std::vector<Results>& all, const std::string& path) {
  Json benchmarks = Json::array();
  for (const Results& results : all) benchmarks.push_back(json_of(results));
  const Json json = {{"context",
                      {{"executable", "memory_allocators_bench"},
                       {"num_cpus", std::thread::hardware_concurrency()},
                       {"library_build_type", "release"}}},
                     {"benchmarks", std::move(benchmarks)}};
  std::ofstream file(path);
  file << json.dump(2) << "\n";
  file.close();
  return !file.fail();
}

}  // namespace scopevm::bench
