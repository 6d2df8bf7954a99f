// Places and fuses the graphs.
#include <algorithm>
#include <ranges>

#include "compiler/codegen/kernel_modules.h"
#include "compiler/pipeline/run_passes.h"
#include "compiler/pipeline/tuning/tuner.h"
#include "compiler/placement/solve/fewer_pools.h"
#include "runtime/quoted.h"

namespace scopevm::compiler::pipeline {
namespace {

// Checks that each rule of --place matches an op or value. With CompileOptions::allow_unmatched,
// a rule without a match is a warning.
Status check_rules_match(Placed& placed, const CompileOptions& options) {
  for (size_t i = 0; i < placed.rules.size(); ++i) {
    // Simplification may remove the matched op from some variants, so a match in one is enough.
    if (std::ranges::any_of(placed.runs, [&](const auto& run) { return run->report.matched[i]; }))
      continue;
    const std::string message =
        "--place " + runtime::escaped(placed.rules[i].text) + ": rule matches no op or value";
    if (!options.allow_unmatched)
      return Status(StatusCode::kInvalidArgument, message + "; --allow-unmatched permits this");
    placed.warnings.push_back(message);
  }
  return {};
}

Simplified clone(const Simplified& simplified) {
  Simplified copy{{simplified.mlir,
                   simplified.machine,
                   simplified.rules,
                   simplified.split,
                   simplified.variants,
                   {},
                   simplified.data_files,
                   simplified.warnings},
                  simplified.external_parts};
  for (const Graph& graph : simplified.graphs)
    copy.graphs.push_back({make_leakable<mlir::OwningOpRef<mlir::ModuleOp>>(graph.module().clone()),
                           graph.name, graph.dims});
  return copy;
}

Status lower_within_limits(Placed& placed, Context& context) {
  SCOPEVM_ASSIGN_OR_RETURN(placed.lowering, lower_graphs(placed, context));
  return choose_pools(*placed.lowering, context);
}

bool has_limits(const Machine& machine) {
  return std::ranges::any_of(machine.pools, &Pool::is_limited);
}

bool has_kernel_scopes(const Simplified& simplified) {
  return std::ranges::any_of(simplified.graphs, [](const Graph& graph) {
    return placement::has_kernel_scopes(graph.module());
  });
}

bool has_limited_choice(const Placed& placed) {
  return std::ranges::any_of(placed.runs,
                             [](const auto& run) { return run->report.has_limited_choice; });
}

// Finds the cheapest placement of a model. Placement ignores spills, and the scopes that kernels
// require are known only after it. Both can make the choice of a pool expensive, so the model is
// also placed without some of the pools.
class CheapestPlacement {
 public:
  CheapestPlacement(const Simplified& simplified, Context& context)
      : simplified_(simplified), context_(context) {}

  // Sets `dumped` to the dumps of the returned placement. Errors: those of placement, and
  // kResourceLimit if no placement is within the limits.
  Result<Placed> run(std::string& dumped) {
    const Status status = try_all();
    dumped = std::move(dumped_);
    SCOPEVM_RETURN_IF_ERROR(status);
    if (!best_) return over_;
    return *std::move(best_);
  }

 private:
  Status try_all() {
    for (const Machine& machine : placement::with_fewer_pools(simplified_.machine)) {
      SCOPEVM_ASSIGN_OR_RETURN(const bool has_choice, add(machine, placement::PoolChoice::kAny));
      if (is_optimal()) return {};
      if (!has_choice) continue;
      SCOPEVM_RETURN_IF_ERROR(add(machine, placement::PoolChoice::kUnlimited).status());
    }
    return {};
  }

  // Whether no other candidate costs less.
  bool is_optimal() const { return best_ && seconds_of(*best_) <= *least_; }

  // Places the model on `machine`, and keeps the placement if it is the cheapest within all limits.
  // Returns whether placement chose a pool with a limit.
  Result<bool> add(const Machine& machine, placement::PoolChoice choice) {
    Simplified simplified = clone(simplified_);
    simplified.machine = machine;
    std::string text;
    context_.hold_dumps(&text);
    Result<Placed> placed = place(std::move(simplified), choice, context_);
    if (!best_) dumped_ = text;
    SCOPEVM_RETURN_IF_ERROR(placed.status());
    const bool has_choice = has_limited_choice(*placed);
    if (!least_) least_ = has_kernel_scopes(*placed) ? 0 : seconds_of(*placed);
    // Spills only add to the cost.
    if (!is_cheapest(*placed)) return has_choice;
    if (has_limits(machine)) {
      const Status fits = lower_within_limits(*placed, context_);
      if (!best_) dumped_ = text;
      if (!fits.ok() && fits.code() != StatusCode::kResourceLimit) return fits;
      if (!fits.ok()) over_ = fits;
      if (!fits.ok() || !is_cheapest(*placed)) return has_choice;
    }
    best_ = *std::move(placed);
    dumped_ = std::move(text);
    return has_choice;
  }

  bool is_cheapest(const Placed& placed) const {
    return !best_ || seconds_of(placed) < seconds_of(*best_);
  }

  const Simplified& simplified_;
  Context& context_;
  // A lower bound of the cost: that of the first placement without spills. Placement minimises it
  // unless kernels require scopes.
  std::optional<double> least_;
  std::optional<Placed> best_;  // the cheapest placement within all limits
  std::string dumped_;          // the dumps of `best_`, or of the last failure
  Status over_;                 // the error of the last placement that exceeds a limit
};

}  // namespace

double seconds_of(const Placed& placed) {
  double sum = 0;
  for (const auto& run : placed.runs) sum += run->report.seconds;
  if (placed.lowering)
    for (const memory::SpillReport& spill : placed.lowering->spills) sum += spill.seconds;
  return sum;
}

Result<Placed> place(Simplified simplified, placement::PoolChoice choice, Context& context) {
  Placed placed{std::move(simplified), {}, {}};
  placed.runs = new_runs(placed, choice, context.options);
  const schedule::Core& core =
      codegen::host_core(context.backends, placed.machine, context.options.target_cpus);
  for (const auto& run : placed.runs) run->layout_options.core = &core;
  for (const PassStage& stage : pass_stages() | std::views::drop(1)) {
    SCOPEVM_RETURN_IF_ERROR(context.begin(stage.name));
    for (size_t i = 0; i < placed.graphs.size(); ++i) {
      const Graph& graph = placed.graphs[i];
      PlacementRun& run = *placed.runs[i];
      if (stage.name == "fusion") {
        SCOPEVM_RETURN_IF_ERROR(Tuner(context).measure_convolutions(graph.module(), placed.machine,
                                                                    run.layout_options));
      }
      SCOPEVM_RETURN_IF_ERROR(run_passes(stage, graph, placed.runs[i], context));
    }
  }
  SCOPEVM_RETURN_IF_ERROR(check_rules_match(placed, context.options));
  return placed;
}

Result<Placed> place(Simplified simplified, Context& context) {
  if (!has_limits(simplified.machine) && !has_kernel_scopes(simplified))
    return place(std::move(simplified), placement::PoolChoice::kAny, context);
  std::string dumped;
  Result<Placed> placed = CheapestPlacement(simplified, context).run(dumped);
  context.hold_dumps(nullptr);
  if (!dumped.empty()) context.options.dump(dumped);
  return placed;
}

}  // namespace scopevm::compiler::pipeline
