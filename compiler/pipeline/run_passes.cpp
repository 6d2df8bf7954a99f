// Runs passes under mlir::PassManager; see run_passes.h.
#include "compiler/pipeline/run_passes.h"

#include <chrono>
#include <functional>

#include "mlir/IR/MLIRContext.h"
#include "mlir/Pass/PassInstrumentation.h"
#include "mlir/Pass/PassManager.h"

namespace scopevm::compiler::pipeline {
namespace {

// Reports the time and result of each pass that succeeds.
class PassObserver : public mlir::PassInstrumentation {
 public:
  explicit PassObserver(Context& context) : context_(context) {}

  void runBeforePass(mlir::Pass*, mlir::Operation*) override {
    began_ = std::chrono::steady_clock::now();
  }
  void runAfterPass(mlir::Pass* pass, mlir::Operation* op) override {
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - began_;
    context_.add_pass_time(pass->getArgument(), elapsed.count());
    context_.dump(pass->getArgument(), mlir::cast<mlir::ModuleOp>(op));
  }

 private:
  Context& context_;
  std::chrono::steady_clock::time_point began_;
};

}  // namespace

Status run_passes(const PassStage& stage, const Graph& graph,
                  const std::shared_ptr<PlacementRun>& run, Context& context) {
  const std::string& reproducer_path = context.options.reproducer_path;
  const LeakedOnException<mlir::PassManager> manager(context.mlir.get(),
                                                     mlir::ModuleOp::getOperationName());
  mlir::PassManager& passes = *manager;
  if (!reproducer_path.empty()) passes.enableCrashReproducerGeneration(reproducer_path);
  passes.addInstrumentation(std::make_unique<PassObserver>(context));
  stage.add_passes(passes, run);
  std::string diagnostics;
  mlir::ScopedDiagnosticHandler handler(context.mlir.get(), [&](mlir::Diagnostic& diagnostic) {
    diagnostics += (diagnostics.empty() ? "" : "; ") + diagnostic.str();
    return mlir::success();
  });
  if (failed(passes.run(graph.module()))) {
    const Status& placement = run->status;
    const std::string reproducer =
        reproducer_path.empty() ? "" : "; graph and passes are in " + reproducer_path;
    // An invalid placement is a user error with its own status code. Any other failure of a pass is
    // a defect of the compiler.
    if (placement.ok())
      return Status(StatusCode::kInternal, "graph passes failed: " + diagnostics + reproducer);
    return Status(placement.code(), std::string(placement.message()) + reproducer);
  }
  context.dump(stage.name, graph.module());
  return {};
}

std::vector<std::shared_ptr<PlacementRun>> new_runs(const Imported& imported,
                                                    placement::PoolChoice choice,
                                                    const CompileOptions& options) {
  std::vector<std::shared_ptr<PlacementRun>> runs;
  for (size_t i = 0; i < imported.graphs.size(); ++i) {
    auto run = std::make_shared<PlacementRun>();
    run->machine = imported.machine;
    // The crash reproducer prints the file name and the rules as pass options. PlacementRun::load()
    // must not read the machine again, because the description may not be in a file.
    if (!options.machine_json.empty()) run->machine_file = options.machine_name;
    run->rules = imported.rules;
    run->split = imported.split;
    if (!runs.empty()) run->split_states = runs.front()->split_states;
    run->rule_strings = options.places;
    run->is_loaded = true;
    run->choice = choice;
    run->layout_options.layout = options.image_layout;
    run->layout_options.fast_conv = options.fast_conv;
    runs.push_back(std::move(run));
  }
  return runs;
}

}  // namespace scopevm::compiler::pipeline
