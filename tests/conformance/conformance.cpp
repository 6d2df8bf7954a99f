// Runs ONNX's conformance cases, each in a child process, and compares the outcomes with the
// committed list, expected.txt.
//
//   conformance [--groups node,simple] [--shard I/N] [--case NAME] [--jobs N] [--bless] [--verbose]
//               [--machine FILE] [--place RULE]... [--data FOLDER] [--expected FILE]
//               [--cpu NAME] [--byte-tolerance N] [--tolerance X]
//
// --case runs the cases whose name contains NAME and prints their details. --bless updates the
// entries of the selected cases in the list, unless one of them is a crash or a timeout. It removes
// the entries of cases that do not exist.
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
#include <deque>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include "tests/conformance/case.h"
#include "tests/conformance/isolate.h"

namespace {

using namespace scopevm::conformance;
namespace fs = std::filesystem;

struct Options {
  std::string data = "/usr/share/libonnx-testdata/data";
  std::string expected = SCOPEVM_CONFORMANCE_LIST;
  std::vector<std::string> groups = {"node", "simple", "pytorch-converted", "pytorch-operator"};
  std::string shard = "0/1";
  std::string only;
  int jobs = 1;
  bool bless = false;
  bool verbose = false;
  std::string machine;
  Target target;
};

bool exists(const Options& options, const std::string& name) {
  return fs::exists(fs::path(options.data) / name / "model.onnx");
}

// Parses I/N with 0 <= I < N.
bool parse_shard(const std::string& text, size_t& index, size_t& count) {
  int length = 0;
  return std::sscanf(text.c_str(), "%zu/%zu%n", &index, &count, &length) == 2 &&
         static_cast<size_t>(length) == text.size() && index < count;
}

// Finds the names GROUP/CASE of the selected cases, those that exist and those of `list`, sorted. A
// shard is every Nth case of each group. Returns false after an error.
bool select_cases(const Options& options, const OutcomeList& list,
                  std::vector<std::string>& cases) {
  size_t index = 0, count = 1;
  if (!parse_shard(options.shard, index, count)) {
    std::fprintf(stderr, "conformance: --shard %s: expected I/N with 0 <= I < N\n",
                 options.shard.c_str());
    return false;
  }
  for (const std::string& group : options.groups) {
    std::set<std::string> names;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(options.data + "/" + group, error)) {
      std::string name = group + "/" + entry.path().filename().string();
      if (exists(options, name)) names.insert(std::move(name));
    }
    if (error || names.empty()) {
      std::fprintf(stderr, "conformance: no cases in %s/%s; install libonnx-testdata\n",
                   options.data.c_str(), group.c_str());
      return false;
    }
    for (const auto& [name, outcome] : list)
      if (name.starts_with(group + "/")) names.insert(name);
    size_t position = 0;
    for (const std::string& name : names)
      if (position++ % count == index && name.find(options.only) != std::string::npos)
        cases.push_back(name);
  }
  if (cases.empty()) std::fprintf(stderr, "conformance: no case is selected\n");
  std::sort(cases.begin(), cases.end());
  return !cases.empty();
}

// Returns the outcomes of the cases that exist.
OutcomeList run_all(const Options& options, const std::vector<std::string>& cases) {
  OutcomeList outcomes;
  std::deque<std::pair<std::string, std::unique_ptr<Child>>> running;
  auto finish_first = [&] {
    auto [name, child] = std::move(running.front());
    running.pop_front();
    Outcome outcome = child ? child->finish() : Outcome{Verdict::kCrash, "", "cannot fork"};
    if (options.verbose)
      std::printf("%s %s  %s\n", name.c_str(), text(outcome).c_str(), outcome.detail.c_str());
    outcomes[name] = std::move(outcome);
  };
  for (const std::string& name : cases) {
    if (!exists(options, name)) continue;
    if (running.size() == static_cast<size_t>(options.jobs)) finish_first();
    std::fflush(stdout);
    std::string folder = options.data + "/" + name;
    running.emplace_back(name,
                         Child::start([&] { return run_case(folder, options.target); }, Limits()));
  }
  while (!running.empty()) finish_first();
  return outcomes;
}

// One line for each crash and each timeout, which are always errors.
std::vector<std::string> crashes_and_timeouts(const OutcomeList& outcomes) {
  std::vector<std::string> lines;
  for (const auto& [name, outcome] : outcomes)
    if (outcome.verdict == Verdict::kCrash || outcome.verdict == Verdict::kTimeout)
      lines.push_back(name + ": " + text(outcome) + " is never accepted: " + outcome.detail);
  return lines;
}

int bless(const Options& options, OutcomeList list, const std::vector<std::string>& cases,
          const OutcomeList& outcomes) {
  if (std::vector<std::string> lines = crashes_and_timeouts(outcomes); !lines.empty()) {
    for (const std::string& line : lines) std::fprintf(stderr, "conformance: %s\n", line.c_str());
    return 1;
  }
  for (const std::string& name : cases) list.erase(name);
  for (const auto& [name, outcome] : outcomes) list[name] = outcome;
  if (write_list(options.expected, list)) return 0;
  std::fprintf(stderr, "conformance: cannot write %s\n", options.expected.c_str());
  return 1;
}

// Compares the outcomes with the entries of the selected cases in the list. A crash or timeout is
// always an error. Returns the exit code.
int check(const std::vector<std::string>& cases, const OutcomeList& list,
          const OutcomeList& outcomes) {
  OutcomeList wanted;
  for (const auto& [name, outcome] : list)
    if (std::binary_search(cases.begin(), cases.end(), name)) wanted[name] = outcome;
  std::vector<std::string> lines = differences(wanted, outcomes);
  std::vector<std::string> never_accepted = crashes_and_timeouts(outcomes);
  for (const std::string& line : lines) std::printf("%s\n", line.c_str());
  for (const std::string& line : never_accepted) std::printf("%s\n", line.c_str());
  for (const std::string& line : summary(outcomes)) std::printf("%s\n", line.c_str());
  if (!never_accepted.empty())
    std::printf("%zu crashes or timeouts\n", never_accepted.size());
  else if (!lines.empty())
    std::printf("%zu differences; `conformance --bless` accepts them\n", lines.size());
  return lines.empty() && never_accepted.empty() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app("Runs ONNX's conformance cases and compares the outcomes with a list.");
  app.add_option("--data", options.data, "folder that contains a folder for each group of cases");
  app.add_option("--expected", options.expected, "the list of expected outcomes");
  app.add_option("--groups", options.groups, "the groups to run, separated by commas")
      ->delimiter(',');
  app.add_option("--shard", options.shard,
                 "I/N: run every Nth case of each group, starting with case I; 0 <= I < N");
  app.add_option("--case", options.only, "run only the cases whose name contains this text");
  app.add_option("--jobs", options.jobs, "number of cases that run at the same time")
      ->check(CLI::Range(1, 64));
  app.add_flag("--bless", options.bless, "update the list instead of comparing with it");
  app.add_flag("--verbose", options.verbose, "print the outcome of every case");
  app.add_option("--machine", options.machine, "machine description to compile for");
  app.add_option("--byte-tolerance", options.target.tolerance.bytes,
                 "the largest accepted difference of 8-bit integers (0)");
  app.add_option("--tolerance", options.target.tolerance.of_largest,
                 "an accepted error of floats, as a part of a tensor's largest element (0)");
  app.add_option("--cpu", options.target.target_cpus, "target CPU, as in scopevm compile");
  app.add_option("--place", options.target.places, "placement rule, as in scopevm compile");
  CLI11_PARSE(app, argc, argv);
  if (!options.machine.empty()) {
    std::ifstream file(options.machine);
    options.target.machine_json.assign(std::istreambuf_iterator<char>(file), {});
    if (options.target.machine_json.empty()) {
      std::fprintf(stderr, "conformance: cannot read %s\n", options.machine.c_str());
      return 2;
    }
  }
  options.verbose |= !options.only.empty();

  std::vector<std::string> cases;
  OutcomeList list;
  std::string error;
  if (!read_list(options.expected, list, error)) {
    std::fprintf(stderr, "conformance: %s\n", error.c_str());
    return 1;
  }
  if (!select_cases(options, list, cases)) return 1;
  OutcomeList outcomes = run_all(options, cases);
  if (options.bless) return bless(options, std::move(list), cases, outcomes);
  return check(cases, list, outcomes);
}
