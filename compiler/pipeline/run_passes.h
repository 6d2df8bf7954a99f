// Runs the passes of a stage on a graph.
#pragma once

#include "compiler/passes/pass_stages.h"
#include "compiler/pipeline/stages.h"

namespace scopevm::compiler::pipeline {

// Reports the times and dumps of the passes and of the stage. Errors: those of placement; kInternal
// if another pass fails.
Status run_passes(const PassStage& stage, const Graph& graph,
                  const std::shared_ptr<PlacementRun>& run, Context& context);

// One per graph, with the machine, the rules and the options.
std::vector<std::shared_ptr<PlacementRun>> new_runs(const Imported& imported,
                                                    placement::PoolChoice choice,
                                                    const CompileOptions& options);

}  // namespace scopevm::compiler::pipeline
