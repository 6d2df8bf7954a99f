// Places and fuses the graphs.
#include <algorithm>
#include <ranges>

#include "compiler/codegen/kernel_modules.h"
#include "compiler/pipeline/run_passes.h"
#include "compiler/pipeline/tuning/tuner.h"
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

// The estimated time of all copies and accesses in a call, and the additional time of spills.
double seconds_of(const Placed& placed) {
  double sum = 0;
  for (const auto& run : placed.runs) sum += run->report.seconds;
  for (const memory::SpillReport& spill : placed.lowering->spills) sum += spill.seconds;
  return sum;
}

// Sets `dumped` to the dumps of the returned placement.
Result<Placed> cheaper_placement(Simplified simplified, Context& context, std::string& dumped) {
  Simplified other = clone(simplified);
  context.hold_dumps(&dumped);
  SCOPEVM_ASSIGN_OR_RETURN(Placed first,
                           place(std::move(simplified), placement::PoolChoice::kAny, context));
  const Status fits = lower_within_limits(first, context);
  const bool has_choice = std::ranges::any_of(
      first.runs, [](const auto& run) { return run->report.has_limited_choice; });
  if (!fits.ok() && (!has_choice || fits.code() != StatusCode::kResourceLimit)) return fits;
  if (!has_choice || (fits.ok() && first.lowering->spills.empty())) return first;

  std::string other_dumped;
  context.hold_dumps(&other_dumped);
  Result<Placed> second = place(std::move(other), placement::PoolChoice::kUnlimited, context);
  if (second.ok())
    if (Status status = lower_within_limits(*second, context); !status.ok())
      second = std::move(status);
  if (fits.ok() && (!second.ok() || seconds_of(*second) >= seconds_of(first))) return first;
  dumped = std::move(other_dumped);
  return second;
}

}  // namespace

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
  if (std::ranges::none_of(simplified.machine.pools, &Pool::is_limited))
    return place(std::move(simplified), placement::PoolChoice::kAny, context);
  std::string dumped;
  Result<Placed> placed = cheaper_placement(std::move(simplified), context, dumped);
  context.hold_dumps(nullptr);
  if (!dumped.empty()) context.options.dump(dumped);
  return placed;
}

}  // namespace scopevm::compiler::pipeline
