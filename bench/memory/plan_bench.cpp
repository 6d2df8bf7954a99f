// How close to the lower bound are the plans of libscopevm_plan, and how long do they take?
//
// Generated instances of each size (default: 1000,10000,100000): the heuristics, compared with
// first fit in the order of decreasing size, which is computed up to 10,000 buffers. With --search
// S,...: these instances with all searches and the time limits S, instead. With --data:
// each CSV file of the folder and its subfolders: the heuristics, one second of search, and, for a
// name such as A.1048576.csv, the plan within that capacity, with the time limit S (default: 60).
// Ratios are height / lower bound. Times are CPU time of one thread. Each plan is validated.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "bench/memory/instances.h"
#include "scopevm/plan.h"

namespace scopevm::bench {
namespace {

constexpr size_t kMostGreedy = 10000;

[[noreturn]] void stop(const std::string& message) {
  fmt::print(stderr, "plan_bench: {}\n", message);
  std::exit(1);
}

plan::Plan solved(const plan::Problem& problem, const plan::Options& options) {
  Result<plan::Plan> plan = plan::solve(problem, options);
  if (!plan.ok()) stop(std::string(plan.status().message()));
  if (plan->offsets.empty()) return *std::move(plan);
  if (const Status status = plan::validate(problem, *plan); !status.ok())
    stop(std::string(status.message()));
  return *std::move(plan);
}

double ratio(int64_t height, int64_t bound) {
  return static_cast<double>(height) / static_cast<double>(bound);
}

void print_generated(const std::vector<size_t>& sizes) {
  fmt::print(
      "| instance | buffers | ratio | CPU ms | greedy by size | heuristic |\n"
      "| --- | ---: | ---: | ---: | ---: | --- |\n");
  for (const Generator& generator : generators())
    for (const size_t size : sizes) {
      const plan::Problem problem = generator.generate(size, 1);
      const plan::Plan plan =
          solved(problem, {.time_limit_s = 60, .solver = plan::Solver::kHeuristic});
      const std::string greedy =
          size > kMostGreedy
              ? ""
              : fmt::format("{:.4f}", ratio(greedy_by_size_height(problem), plan.lower_bound));
      fmt::print("| {} | {} | {:.5f} | {:.1f} | {} | {} |\n", generator.name, size,
                 ratio(plan.height, plan.lower_bound), plan.cpu_s * 1e3, greedy, plan.solver);
      std::fflush(stdout);
    }
}

void print_searched(const std::vector<size_t>& sizes, const std::vector<double>& time_limits_s) {
  fmt::print(
      "| instance | buffers | limit, s | heuristics | searches | CPU s | part |\n"
      "| --- | ---: | ---: | ---: | ---: | ---: | --- |\n");
  for (const Generator& generator : generators())
    for (const size_t size : sizes) {
      const plan::Problem problem = generator.generate(size, 1);
      const plan::Plan fast = solved(problem, {.solver = plan::Solver::kHeuristic});
      for (const double time_limit_s : time_limits_s) {
        const plan::Plan plan = solved(problem, {.time_limit_s = time_limit_s});
        fmt::print("| {} | {} | {:g} | {:.5f} | {:.5f} | {:.2f} | {} |\n", generator.name, size,
                   time_limit_s, ratio(fast.height, plan.lower_bound),
                   ratio(plan.height, plan.lower_bound), plan.cpu_s, plan.solver);
        std::fflush(stdout);
      }
    }
}

plan::Problem read(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  Result<plan::Problem> problem = plan::parse_csv(text);
  if (!problem.ok()) stop(path.string() + ": " + std::string(problem.status().message()));
  return *std::move(problem);
}

// The number in the middle of a name such as A.1048576.csv.
std::optional<int64_t> capacity_of(const std::filesystem::path& path) {
  const std::string number = path.stem().extension().string();
  int64_t capacity = 0;
  const char* const end = number.data() + number.size();
  if (number.empty() || std::from_chars(number.data() + 1, end, capacity).ptr != end) return {};
  return capacity;
}

std::string solved_text(const plan::Plan& plan) {
  if (!plan.offsets.empty()) return fmt::format("{:.2f}", plan.cpu_s);
  return plan.proof == plan::Proof::kInfeasible ? "infeasible" : "none";
}

void print_files(const std::filesystem::path& folder, double time_limit_s) {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
    if (entry.path().extension() == ".csv") paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  fmt::print(
      "\n| file | buffers | lower bound | heuristics | CPU ms | 1 s of search | capacity, "
      "CPU s |\n| --- | ---: | ---: | ---: | ---: | ---: | ---: |\n");
  for (const std::filesystem::path& path : paths) {
    const plan::Problem problem = read(path);
    const plan::Plan fast = solved(problem, {.solver = plan::Solver::kHeuristic});
    const plan::Plan searched = solved(problem, {.time_limit_s = 1});
    std::string within;
    if (const auto capacity = capacity_of(path))
      within = solved_text(solved(problem, {.capacity = capacity, .time_limit_s = time_limit_s}));
    fmt::print("| {} | {} | {} | {:.4f} | {:.2f} | {:.4f} | {} |\n", path.stem().string(),
               problem.buffers.size(), fast.lower_bound, ratio(fast.height, fast.lower_bound),
               fast.cpu_s * 1e3, ratio(searched.height, searched.lower_bound), within);
    std::fflush(stdout);
  }
}

int main(int argc, char** argv) {
  std::vector<size_t> sizes = {1000, 10000, 100000};
  std::vector<double> time_limits_s;
  std::string data;
  double time_limit_s = 60;
  CLI::App app("Compares the heights and times of memory plans with their lower bounds.");
  app.add_option("--sizes", sizes, "numbers of buffers of the generated instances")->delimiter(',');
  app.add_option("--search", time_limits_s,
                 "limits of the CPU time of searches, instead of heuristics")
      ->delimiter(',');
  app.add_option("--data", data, "folder of instances as CSV");
  app.add_option("--time", time_limit_s, "limit of the CPU time for the capacity in a file's name");
  CLI11_PARSE(app, argc, argv);
  if (time_limits_s.empty())
    print_generated(sizes);
  else
    print_searched(sizes, time_limits_s);
  if (!data.empty()) print_files(data, time_limit_s);
  return 0;
}

}  // namespace
}  // namespace scopevm::bench

int main(int argc, char** argv) { return scopevm::bench::main(argc, argv); }
