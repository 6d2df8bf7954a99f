// Simplifies the graphs, and offers their parts to external libraries.
#include <algorithm>
#include <set>

#include "compiler/external/library.h"
#include "compiler/external/take.h"
#include "compiler/graph/diagnostics/op_name.h"
#include "compiler/graph/rewrite/states.h"
#include "compiler/import/scope/dim_names.h"
#include "compiler/pipeline/run_passes.h"
#include "compiler/pipeline/tuning/tuner.h"
#include "runtime/quoted.h"
#include "runtime/state_pairs.h"

namespace scopevm::compiler::pipeline {
namespace {

// --dim can bound the capacities of the states only, not those of other dimensions.
Status check_capacities(mlir::func::FuncOp main, const std::map<std::string, DimBound>& bounds,
                        const std::vector<std::string>& tied) {
  std::set<std::string> names;
  for (mlir::Type type : main.getArgumentTypes())
    if (auto tensor = mlir::dyn_cast<graph::TensorType>(type))
      for (DimExpr dim : tensor.getShape())
        for (const std::string& name : dim.symbols()) names.insert(name);
  for (const std::string& name : names)
    if (const std::string capacity = graph::capacity_name(name);
        bounds.contains(capacity) && !names.contains(capacity) &&
        std::ranges::find(tied, name) == tied.end())
      return {StatusCode::kInvalidArgument, "unknown dimension " + runtime::quoted(capacity) +
                                                ": no state has the dimension " + name};
  return {};
}

// Option "state" in main, or in a variant, where `names` has the dimensions of main's states.
// Returns these dimensions.
Result<std::vector<std::string>> tie_states(const std::vector<std::string>& states,
                                            const Graph& graph,
                                            const std::vector<std::string>& names) {
  if (states.empty()) return std::vector<std::string>();
  auto main = graph.module().lookupSymbol<mlir::func::FuncOp>(graph.name);
  std::vector<std::string> inputs, outputs;
  for (mlir::BlockArgument argument : main.getArguments())
    inputs.push_back(graph::input_name(argument));
  for (unsigned i = 0; i < main.getNumResults(); ++i)
    outputs.push_back(graph::output_name(main, i));
  SCOPEVM_ASSIGN_OR_RETURN(const runtime::StatePairs pairs,
                           runtime::parse_state_pairs(states, inputs, outputs));
  auto tied = graph::tie_states(main, pairs, names, [&](const std::string& name) {
    return frontend::named_dim(name, graph.dims);
  });
  if (tied.ok() && names.empty())
    SCOPEVM_RETURN_IF_ERROR(check_capacities(main, graph.dims, *tied));
  if (tied.ok() || names.empty()) return tied;
  return std::move(tied).status().with_context("variant " + graph.name);
}

}  // namespace

Result<Simplified> simplify(Imported imported, Context& context) {
  const CompileOptions& options = context.options;
  SCOPEVM_RETURN_IF_ERROR(external::check_libraries(options.external_libraries));
  Simplified simplified{std::move(imported), {}};
  const PassStage& stage = pass_stages().front();
  SCOPEVM_RETURN_IF_ERROR(context.begin(stage.name));
  external::MeasurePart measure;
  if (options.tuning.measure)
    measure = [&](external::Alternatives part) {
      return Tuner(context).measure_part(std::move(part));
    };
  std::vector<std::string> states;  // the dimensions of main's states
  const auto runs = new_runs(simplified, placement::PoolChoice::kAny, options);
  for (size_t i = 0; i < simplified.graphs.size(); ++i) {
    const Graph& graph = simplified.graphs[i];
    SCOPEVM_RETURN_IF_ERROR(run_passes(stage, graph, runs[i], context));
    SCOPEVM_ASSIGN_OR_RETURN(
        std::vector<std::string> tied,
        tie_states(options.states, graph, i == 0 ? std::vector<std::string>() : states));
    if (i == 0) states = std::move(tied);
    // The inputs of main do not change any more.
    if (i == 0 && options.tuning.measure)
      SCOPEVM_RETURN_IF_ERROR(check_requests(options, graph.module()));
    std::vector<ExternalExplanation::Part> parts;
    for (const scopevm_external_library* library : options.external_libraries)
      SCOPEVM_RETURN_IF_ERROR(external::take(graph.module(), *library, measure, parts));
    if (i == 0) simplified.external_parts = std::move(parts);
  }
  return simplified;
}

}  // namespace scopevm::compiler::pipeline
