// property_fuzz: compiles random graphs and compares them with the reference. Prints shrunk failing
// graphs and a summary. Exits with 1 if any graph failed.
#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <map>

#include "compiler/passes/context.h"
#include "mlir/IR/MLIRContext.h"
#include "runtime/count_text.h"
#include "tests/property/random/outline.h"
#include "tests/property/random/scatter.h"
#include "tests/property/shrink.h"

namespace {

using namespace scopevm::compiler;
using namespace scopevm::compiler::property;

struct Options {
  uint64_t seed = 1;
  int64_t graphs = 300;
  int64_t most_ops = 250;
  int64_t most_failures = 10;
  int64_t seconds = 0;
  bool shrinks = true;
  bool prints = false;
  bool is_verbose = false;
  CheckOptions check;
};

struct Summary {
  std::map<std::string, int64_t> failures;  // by kind
  int64_t graphs = 0, ops = 0, compared = 0, skipped = 0, largest = 0, refused = 0;
  int64_t external_runs = 0, parts = 0, omitted = 0;
  double compile_seconds = 0, slowest = 0;
  uint64_t slowest_seed = 0, worst_seed = 0;
  PlanQuality plans;

  void add(uint64_t seed, const GraphCase& graph, const Verdict& verdict) {
    ++graphs;
    ops += graph.op_count();
    largest = std::max(largest, graph.op_count());
    compared += verdict.compared;
    skipped += verdict.skipped;
    refused += verdict.is_refused ? 1 : 0;
    external_runs += verdict.external_runs;
    parts += verdict.parts;
    omitted += verdict.omitted;
    if (verdict.plans.worst > plans.worst) worst_seed = seed;
    plans.add(verdict.plans);
    compile_seconds += verdict.compile_seconds;
    if (verdict.compile_seconds > slowest) {
      slowest = verdict.compile_seconds;
      slowest_seed = seed;
    }
    if (verdict.finding != Finding::kAgrees) ++failures[verdict.kind()];
  }
  int64_t failed() const {
    int64_t count = 0;
    for (const auto& [kind, n] : failures) count += n;
    return count;
  }
  void print() const {
    double n = std::max<double>(1, static_cast<double>(graphs));
    std::printf(
        "%s, %lld ops (%lld in the largest), %lld elements compared, %lld not "
        "known\n",
        scopevm::runtime::count_text(graphs, "graph").c_str(), static_cast<long long>(ops),
        static_cast<long long>(largest), static_cast<long long>(compared),
        static_cast<long long>(skipped));
    std::printf("compile: %.3f s per graph, at most %.2f s (seed %llu)\n", compile_seconds / n,
                slowest, static_cast<unsigned long long>(slowest_seed));
    if (external_runs > 0)
      std::printf("%s of external functions\n",
                  scopevm::runtime::count_text(external_runs, "run").c_str());
    if (parts > 0)
      std::printf("%s of requests along batch dims\n",
                  scopevm::runtime::count_text(parts, "part").c_str());
    if (omitted > 0)
      std::printf("%s omitted\n", scopevm::runtime::count_text(omitted, "formula").c_str());
    if (plans.requests > 0)
      std::printf("plans at %s: %.4f of the lower bound on average, at most %.4f (seed %llu%s)\n",
                  scopevm::runtime::count_text(plans.requests, "request").c_str(),
                  plans.sum / static_cast<double>(plans.requests), plans.worst,
                  static_cast<unsigned long long>(worst_seed), plans.worst_request.c_str());
    if (refused > 0)
      std::printf("%s refused\n", scopevm::runtime::count_text(refused, "graph").c_str());
    for (const auto& [kind, count] : failures)
      std::printf("%6lld %s\n", static_cast<long long>(count), kind.c_str());
    std::printf("%lld failed\n", static_cast<long long>(failed()));
  }
};

void show_failure(uint64_t seed, const GraphCase& graph, const Verdict& verdict,
                  const Options& options) {
  auto check = [&](const GraphCase& candidate) { return check_graph(candidate, options.check); };
  Shrunk shrunk{graph.clone(), verdict};
  int most_checks = verdict.finding == Finding::kTimeout ? 20 : 300;  // timeouts are slow
  if (options.shrinks) shrunk = shrink(graph, verdict, check, most_checks);
  std::printf("%s\n", report(seed, shrunk.graph, shrunk.verdict).c_str());
  std::fflush(stdout);
}

int run(const Options& options) {
  auto context = make_context();
  context->disableMultithreading();
  Summary summary;
  auto began = std::chrono::steady_clock::now();
  int64_t shown = 0;
  for (int64_t i = 0; i < options.graphs; ++i) {
    std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - began;
    if (options.seconds > 0 && elapsed.count() > static_cast<double>(options.seconds)) break;
    uint64_t seed = options.seed + static_cast<uint64_t>(i);
    GraphCase graph = random_graph(seed, *context, options.most_ops);
    if (options.prints) std::printf("%s\n", report(seed, graph, {}).c_str());
    if (options.prints && options.check.is_outlined)
      std::printf("// outlined:\n%s\n", outlined(graph).c_str());
    if (options.prints && options.check.is_placed())
      for (const std::string& place : scatter(graph.text(), options.check.devices()).places)
        std::printf("// --place '%s'\n", place.c_str());
    Verdict verdict = check_graph(graph, options.check);
    summary.add(seed, graph, verdict);
    if (options.is_verbose)
      std::printf("seed %llu: %s, %lld ops, %.2f s\n", static_cast<unsigned long long>(seed),
                  name(verdict.finding), static_cast<long long>(graph.op_count()),
                  verdict.compile_seconds);
    // Prints every mismatch, and each other kind of failure once, up to `most_failures` in all.
    bool is_new = verdict.finding != Finding::kAgrees &&
                  (is_mismatch(verdict.finding) || summary.failures[verdict.kind()] == 1);
    if (is_new && shown++ < options.most_failures) show_failure(seed, graph, verdict, options);
  }
  summary.print();
  return summary.failed() == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app("Compares random graphs with a naive reference interpreter.");
  app.add_option("--seed", options.seed, "seed of the first graph; graph i has this seed plus i");
  app.add_option("--graphs", options.graphs, "number of graphs");
  app.add_option("--ops", options.most_ops, "largest number of ops of a graph");
  app.add_option("--seconds", options.seconds, "stop after this time; 0: no limit");
  app.add_option("--failures", options.most_failures, "number of failures to shrink and print");
  app.add_option("--cpu", options.check.cpu, "target CPU");
  app.add_flag("--scattered", options.check.is_scattered, "place the ops on several devices");
  app.add_flag("--opencl", options.check.has_gpu,
               "place the ops on several devices, one of which is an OpenCL device");
  app.add_flag("--ranks", options.check.has_ranks, "place the ops on devices of three ranks");
  app.add_flag("--split", options.check.is_split, "split the graph over two to four ranks");
  app.add_flag("--outlined", options.check.is_outlined, "move ops into functions and closures");
  app.add_flag("--external", options.check.is_external, "let an external library compute ops");
  app.add_flag("--pinned", options.check.is_pinned, "annotate ops with places; with --scattered");
  app.add_flag("--explained", options.check.is_explained,
               "check the reasons for copies instead of results");
  app.add_flag("--planned", options.check.is_planned,
               "compare the explanations of memory plans with memory bounds instead of results");
  app.add_flag(
      "--pooled", options.check.is_pooled,
      "compare the costs of placements with and without an additional pool; with --scattered");
  app.add_flag("--plans", options.check.measures_plans,
               "compare memory plans with their lower bounds instead of results");
  app.add_flag("--squeezed", options.check.is_squeezed,
               "limit the workspace to a part of its size");
  app.add_flag("!--no-shrink", options.shrinks, "print failing graphs without shrinking them");
  app.add_flag("--print", options.prints, "print every graph");
  app.add_flag("--verbose", options.is_verbose, "print a line for every graph");
  CLI11_PARSE(app, argc, argv);
  return run(options);
}
