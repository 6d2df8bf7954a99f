// states_fuzz: compares random models with states, distributed over the ranks of a job, with one
// process and one rank. Each model is tested in a process of its own, so that a deadlock or a crash
// is reported with its seed. Exits with 1 if any model failed.
#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <sstream>
#include <string>

#include "tests/conformance/isolate.h"
#include "tests/ranks/random/comparison.h"

namespace {

using namespace scopevm::ranks;
namespace conformance = scopevm::conformance;

struct Options {
  uint64_t seed = 1;
  int64_t models = 100;
  int64_t operations = 60;
  int64_t seconds = 0;
  unsigned wait_seconds = 120;
  bool prints = false;
};

std::string packed(const Counts& counts) {
  std::ostringstream text;
  text << counts.models << ' ' << counts.refused << ' ' << counts.remote << ' ' << counts.calls
       << ' ' << counts.operations << ' ' << counts.interrupted << ' ' << counts.rejected;
  return text.str();
}

Counts unpacked(const std::string& text) {
  Counts counts;
  std::istringstream(text) >> counts.models >> counts.refused >> counts.remote >> counts.calls >>
      counts.operations >> counts.interrupted >> counts.rejected;
  return counts;
}

// Returns what is wrong; empty: nothing.
std::string check(uint64_t seed, const RandomModel& model, const Options& options, Counts& counts) {
  const auto child = conformance::Child::start(
      [&] {
        Counts own;
        const std::string wrong =
            compare_executions(model, seed, options.operations, options.wait_seconds, own);
        return conformance::Outcome{
            wrong.empty() ? conformance::Verdict::kPass : conformance::Verdict::kFail, packed(own),
            wrong};
      },
      {});
  if (!child) return "no process could be started";
  const conformance::Outcome outcome = child->finish();
  counts.add(unpacked(outcome.op));
  if (outcome.verdict == conformance::Verdict::kPass) return "";
  if (outcome.verdict == conformance::Verdict::kTimeout)
    return "an operation took more than " + std::to_string(options.wait_seconds) +
           " s: a deadlock?";
  return outcome.verdict == conformance::Verdict::kCrash ? "crash: " + outcome.detail
                                                         : outcome.detail;
}

int run(const Options& options) {
  Counts counts;
  int64_t failed = 0;
  const auto began = std::chrono::steady_clock::now();
  for (int64_t i = 0; i < options.models; ++i) {
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - began;
    if (options.seconds > 0 && elapsed.count() > static_cast<double>(options.seconds)) break;
    const uint64_t seed = options.seed + static_cast<uint64_t>(i);
    const RandomModel model = random_model(seed);
    const std::string wrong = check(seed, model, options, counts);
    failed += wrong.empty() ? 0 : 1;
    if (!wrong.empty() || options.prints)
      std::printf("// seed %llu: %s\n%s\n", static_cast<unsigned long long>(seed),
                  wrong.empty() ? "agrees" : wrong.c_str(), model.description().c_str());
    std::fflush(stdout);
  }
  const auto number = [](int64_t count) { return static_cast<long long>(count); };
  std::printf(
      "%lld models, %lld of them with states of other ranks, %lld refused; %lld calls, %lld other "
      "operations, %lld interrupted, %lld calls without room\n%lld failed\n",
      number(counts.models), number(counts.remote), number(counts.refused), number(counts.calls),
      number(counts.operations), number(counts.interrupted), number(counts.rejected),
      number(failed));
  return failed == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app("Compares random models with states in jobs and in one process.");
  app.add_option("--seed", options.seed, "seed of the first model; model i has this seed plus i");
  app.add_option("--models", options.models, "number of models");
  app.add_option("--operations", options.operations, "number of operations for each model");
  app.add_option("--seconds", options.seconds, "stop after this time; 0: no limit");
  app.add_option("--wait", options.wait_seconds, "seconds after which an operation has failed");
  app.add_flag("--print", options.prints, "print every model");
  CLI11_PARSE(app, argc, argv);
  return run(options);
}
