// Simplifies the graphs, and offers their parts to external libraries.
#include "compiler/external/library.h"
#include "compiler/external/take.h"
#include "compiler/graph/diagnostics/op_name.h"
#include "compiler/graph/rewrite/states.h"
#include "compiler/import/scope/named_dim.h"
#include "compiler/pipeline/run_passes.h"
#include "compiler/pipeline/tuning/tuner.h"
#include "runtime/state_pairs.h"

namespace scopevm::compiler::pipeline {
namespace {

// Option "state".
Status tie_states(const std::vector<std::string>& states, const Graph& graph) {
  if (states.empty()) return {};
  auto main = graph.module().lookupSymbol<mlir::func::FuncOp>(graph.name);
  std::vector<std::string> inputs, outputs;
  for (mlir::BlockArgument argument : main.getArguments())
    inputs.push_back(graph::input_name(argument));
  for (unsigned i = 0; i < main.getNumResults(); ++i)
    outputs.push_back(graph::output_name(main, i));
  SCOPEVM_ASSIGN_OR_RETURN(const runtime::StatePairs pairs,
                           runtime::parse_state_pairs(states, inputs, outputs));
  return graph::tie_states(main, pairs, [&](const std::string& name) {
    return frontend::named_dim(name, graph.dims);
  });
}

}  // namespace

Result<Simplified> simplify(Imported imported, Context& context) {
  const CompileOptions& options = context.options;
  SCOPEVM_RETURN_IF_ERROR(external::check_libraries(options.external_libraries));
  Simplified simplified{std::move(imported), {}};
  const PassStage& stage = pass_stages().front();
  SCOPEVM_RETURN_IF_ERROR(context.begin(stage.name));
  external::MeasurePart measure;
  if (options.tuning.measure) {
    SCOPEVM_RETURN_IF_ERROR(check_requests(options, simplified.graphs.front().module()));
    measure = [&](external::Alternatives part) {
      return Tuner(context).measure_part(std::move(part));
    };
  }
  const auto runs = new_runs(simplified, placement::PoolChoice::kAny, options);
  for (size_t i = 0; i < simplified.graphs.size(); ++i) {
    const Graph& graph = simplified.graphs[i];
    SCOPEVM_RETURN_IF_ERROR(run_passes(stage, graph, runs[i], context));
    SCOPEVM_RETURN_IF_ERROR(tie_states(options.states, graph));
    std::vector<ExternalExplanation::Part> parts;
    for (const scopevm_external_library* library : options.external_libraries)
      SCOPEVM_RETURN_IF_ERROR(external::take(graph.module(), *library, measure, parts));
    if (i == 0) simplified.external_parts = std::move(parts);
  }
  return simplified;
}

}  // namespace scopevm::compiler::pipeline
