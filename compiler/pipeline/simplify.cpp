// Simplifies the graphs, and offers their parts to external libraries.
#include "compiler/external/library.h"
#include "compiler/external/take.h"
#include "compiler/pipeline/run_passes.h"
#include "compiler/pipeline/tuning/tuner.h"

namespace scopevm::compiler::pipeline {

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
    std::vector<ExternalExplanation::Part> parts;
    for (const scopevm_external_library* library : options.external_libraries)
      SCOPEVM_RETURN_IF_ERROR(external::take(graph.module(), *library, measure, parts));
    if (i == 0) simplified.external_parts = std::move(parts);
  }
  return simplified;
}

}  // namespace scopevm::compiler::pipeline
