// Runs ONNX's conformance cases, each in a child process, and compares the outcomes with the
// committed list, expected.txt.
//
//   conformance [--groups node,simple] [--shard I/N] [--case NAME] [--jobs N] [--bless] [--verbose]
//               [--machine FILE] [--place RULE]... [--data FOLDER] [--expected FILE]
//
// --case runs the cases whose name contains NAME and prints their details. --bless updates the list
// with the outcomes of the cases that were run, unless one of them is a crash or a timeout.
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
#include <deque>
#include <filesystem>
#include <fstream>
#include <iterator>
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

// Finds the names GROUP/CASE of the selected cases, sorted within each group. A shard is every Nth
// case of each group. Returns false after an error.
bool find_cases(const Options& options, std::vector<std::string>& cases) {
  int index = 0, count = 1;
  if (std::sscanf(options.shard.c_str(), "%d/%d", &index, &count) != 2 || index < 0 ||
      index >= count) {
    std::fprintf(stderr, "conformance: --shard %s: wanted I/N\n", options.shard.c_str());
    return false;
  }
  for (const std::string& group : options.groups) {
    std::vector<std::string> names;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(options.data + "/" + group, error))
      if (fs::exists(entry.path() / "model.onnx"))
        names.push_back(entry.path().filename().string());
    if (error || names.empty()) {
      std::fprintf(stderr, "conformance: no cases in %s/%s; install libonnx-testdata\n",
                   options.data.c_str(), group.c_str());
      return false;
    }
    std::sort(names.begin(), names.end());
    for (size_t i = static_cast<size_t>(index); i < names.size(); i += static_cast<size_t>(count)) {
      std::string full = group + "/" + names[i];
      if (full.find(options.only) != std::string::npos) cases.push_back(std::move(full));
    }
  }
  return true;
}

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
    if (running.size() == static_cast<size_t>(options.jobs)) finish_first();
    std::fflush(stdout);
    std::string folder = options.data + "/" + name;
    running.emplace_back(name,
                         Child::start([&] { return run_case(folder, options.target); }, Limits()));
  }
  while (!running.empty()) finish_first();
  return outcomes;
}

int bless(const Options& options, OutcomeList list, const OutcomeList& outcomes) {
  for (const auto& [name, outcome] : outcomes) list[name] = outcome;
  for (const auto& [name, outcome] : outcomes) {
    if (outcome.verdict != Verdict::kCrash && outcome.verdict != Verdict::kTimeout) continue;
    std::fprintf(stderr, "conformance: %s: %s %s: not blessed\n", name.c_str(),
                 text(outcome).c_str(), outcome.detail.c_str());
    return 1;
  }
  if (write_list(options.expected, list)) return 0;
  std::fprintf(stderr, "conformance: cannot write %s\n", options.expected.c_str());
  return 1;
}

// Compares the outcomes with the list: with all its lines if `whole_groups` is true, else with
// those of the cases that were run. A crash or timeout is always an error. Returns the exit code.
int check(const std::vector<std::string>& cases, const OutcomeList& list,
          const OutcomeList& outcomes, bool whole_groups) {
  OutcomeList wanted;
  for (const auto& [name, outcome] : list)
    if (whole_groups || std::binary_search(cases.begin(), cases.end(), name))
      wanted[name] = outcome;
  std::vector<std::string> lines = differences(wanted, outcomes);
  for (const auto& [name, outcome] : outcomes)
    if (outcome.verdict == Verdict::kCrash || outcome.verdict == Verdict::kTimeout)
      lines.push_back(name + ": " + text(outcome) + " is never accepted");
  for (const std::string& line : lines) std::printf("%s\n", line.c_str());
  for (const std::string& line : summary(outcomes)) std::printf("%s\n", line.c_str());
  if (!lines.empty())
    std::printf("%zu differences; `conformance --bless` accepts them\n", lines.size());
  return lines.empty() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app("Runs ONNX's conformance cases and compares with the committed list.");
  app.add_option("--data", options.data, "folder of the groups");
  app.add_option("--expected", options.expected, "the committed list");
  app.add_option("--groups", options.groups, "which groups")->delimiter(',');
  app.add_option("--shard", options.shard, "I/N: every Nth case from the Ith");
  app.add_option("--case", options.only, "only cases whose name contains this");
  app.add_option("--jobs", options.jobs, "cases at once")->check(CLI::Range(1, 64));
  app.add_flag("--bless", options.bless, "write the list");
  app.add_flag("--verbose", options.verbose, "print every case");
  app.add_option("--machine", options.machine, "a machine description to compile for");
  app.add_option("--place", options.target.places, "as of scopevm compile");
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
  if (!find_cases(options, cases)) return 1;
  OutcomeList list;
  std::string error;
  if (!read_list(options.expected, list, error)) {
    std::fprintf(stderr, "conformance: %s\n", error.c_str());
    return 1;
  }
  OutcomeList outcomes = run_all(options, cases);
  if (options.bless) return bless(options, std::move(list), outcomes);
  std::sort(cases.begin(), cases.end());
  bool whole = options.only.empty() && options.shard == "0/1" && options.groups.size() == 4;
  return check(cases, list, outcomes, whole);
}
