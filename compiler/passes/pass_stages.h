// The order of the passes. compile() runs the stages below in order, each on main and all its
// variants. scopevm-opt runs all stages with --sv-pipeline, or single passes.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "compiler/passes/passes.h"
#include "mlir/Pass/PassManager.h"

namespace scopevm::compiler {

// A pipeline stage of kStages (scopevm/compiler.h) that runs under mlir::PassManager.
struct PassStage {
  std::string_view name;
  // Appends the stage's passes, which share `run`.
  void (*add_passes)(mlir::OpPassManager& passes, const std::shared_ptr<PlacementRun>& run);
};

// In pipeline order: graph, placement, fusion.
std::span<const PassStage> pass_stages();

// Registers every pass of passes.td, MLIR's canonicalizer and CSE, and the pipeline
// `sv-pipeline{machine=FILE place=RULE,RULE}`, which consists of all stages of pass_stages().
// Idempotent and thread-safe.
void register_passes();

}  // namespace scopevm::compiler
