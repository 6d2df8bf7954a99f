// Adds the passes of each stage in order, and registers them with MLIR.
#include "compiler/passes/pass_stages.h"

#include <mutex>

#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

namespace scopevm::compiler {
namespace {

#define GEN_PASS_REGISTRATION
#include "compiler/passes/passes.h.inc"

void add_graph_passes(mlir::OpPassManager& passes, const std::shared_ptr<PlacementRun>&) {
  passes.addPass(createWidenPass());
  passes.addPass(createSimplifyPass());
  passes.addPass(createUnrollPass());
  passes.addPass(createHoistPass());
  passes.addPass(createBatchDimsPass());
}

// Only ops with the same place can form one kernel, so placement precedes fusion.
void add_placement_passes(mlir::OpPassManager& passes, const std::shared_ptr<PlacementRun>& run) {
  if (run->split.ranks() > 1) passes.addPass(create_split_pass(run));
  passes.addPass(create_place_pass(run, /*kernel_scopes_only=*/false));
}

// The memory scopes that kernels require are known only after the groups are formed, so a second
// placement follows fusion.
void add_fusion_passes(mlir::OpPassManager& passes, const std::shared_ptr<PlacementRun>& run) {
  passes.addPass(create_layout_pass(run));
  passes.addPass(createFusePass());
  passes.addPass(create_place_pass(run, /*kernel_scopes_only=*/true));
  passes.addPass(create_send_early_pass(run));
  passes.addPass(create_verify_places_pass(run));
}

constexpr PassStage kPassStages[] = {{"graph", add_graph_passes},
                                     {"placement", add_placement_passes},
                                     {"fusion", add_fusion_passes}};

struct PipelineOptions : mlir::PassPipelineOptions<PipelineOptions> {
  Option<std::string> machine{
      *this, "machine", llvm::cl::desc("file of the machine description; without it, one CPU")};
  ListOption<std::string> rules{*this, "place", llvm::cl::desc("placement rules, as for --place")};
};

}  // namespace

std::span<const PassStage> pass_stages() { return kPassStages; }

void register_passes() {
  static std::once_flag once;
  std::call_once(once, [] {
    registerPasses();
    mlir::registerCanonicalizerPass();
    mlir::registerCSEPass();
    mlir::PassPipelineRegistration<PipelineOptions>(
        "sv-pipeline", "the MLIR stages of a compilation: graph, placement, fusion",
        [](mlir::OpPassManager& passes, const PipelineOptions& options) {
          auto run = std::make_shared<PlacementRun>();
          run->machine_file = options.machine;
          run->rule_strings.assign(options.rules.begin(), options.rules.end());
          for (const PassStage& stage : kPassStages) stage.add_passes(passes, run);
        });
  });
}

}  // namespace scopevm::compiler
