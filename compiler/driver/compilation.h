// Compilation: the state of one compilation and its pipeline stages. run() executes all stages; the
// explain functions execute the stages that they need.
//
// A stage processes main and all its variants before the next stage begins, except that `shapes`
// and `memory` alternate for each function. Main and its variants share kernels and constants.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/bytecode/emit.h"
#include "compiler/codegen/kernel_modules.h"
#include "compiler/driver/context.h"
#include "compiler/driver/pipeline.h"
#include "compiler/driver/variants.h"
#include "compiler/frontend/import.h"
#include "compiler/kernels/generators.h"
#include "compiler/kernels/lower_program.h"
#include "compiler/memory/spill/spill.h"
#include "compiler/placement/place.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "scopevm/compiler.h"
#include "vm/format/schema/module_contents.h"

namespace scopevm::compiler {

class Compilation {
 public:
  // `options` and `backends` must outlive the object. Only one of the functions below can be
  // called, and only once.
  explicit Compilation(const CompileOptions& options,
                       const codegen::Backends& backends = codegen::built_in_backends())
      : Compilation(options, backends, make_context()) {}
  Compilation(const CompileOptions& options, const codegen::Backends& backends,
              std::shared_ptr<mlir::MLIRContext> context)
      : options_(options), backends_(backends), context_(std::move(context)) {}

  Result<CompileOutput> run();
  // Compiles a graph of the context with the function `main`, instead of the model file.
  Result<CompileOutput> run_graph(mlir::OwningOpRef<mlir::ModuleOp> graph);
  Result<ShapeExplanation> explain_shapes();
  Result<CopyExplanation> explain_copies();
  Result<ExternalExplanation> explain_external();
  Result<LayoutExplanation> explain_layout();
  Result<MemoryExplanation> explain_memory();

  // The current stage, or the stage that failed. Empty before the first one.
  std::string_view stage() const { return stage_; }

 private:
  Status check_options() const;
  // Ends the current stage and starts to measure `stage`.
  void begin(std::string_view stage, int64_t done = 0, int64_t total = 0);
  void end();
  bool wants(std::string_view stage) const { return options_.dump && options_.dump_after == stage; }
  void dump(std::string_view stage, const std::string& text) {
    if (!wants(stage)) return;
    if (holds_dump_)
      placed_.dumped += text;
    else
      options_.dump(text);
  }
  void dump(std::string_view stage, mlir::ModuleOp module);

  // The pipeline stages, in order.
  Status import(const std::vector<Variant>& variants);
  Status import_function(frontend::ModelFile& file, const std::string& name,
                         const std::map<std::string, DimBound>& dims);
  Status read_machine();
  // Runs all stages after the frontend.
  Result<CompileOutput> finish(const std::vector<Variant>& variants);

  Result<CompileOutput> run_once();
  // Compiles the model several times and keeps the fastest module; see Tuning.
  Result<CompileOutput> run_tuned();
  bool is_tuned() const { return options_.tuning.measure && !options_.external_libraries.empty(); }

  // Runs the stages graph, placement and fusion. If `is_lowered` is set and a pool has a limit,
  // place_within_limits() replaces place(), so that the graphs are also lowered.
  Status run_pass_stages(bool is_lowered = true);
  Status run_graph_stage();
  // Runs the stages placement and fusion.
  Status place(placement::PoolChoice choice);
  // Places and lowers the graphs within the limits of pools. Placement compares only single values
  // with a limit. If it chooses a pool with a limit, and values are spilled or do not fit, the
  // graphs are placed again without such choices. The placement of lower cost is kept.
  Status place_within_limits();
  Status take_cheaper_placement();
  Status place_and_lower(placement::PoolChoice choice);
  // With CompileOptions::tuning, measures the forms of the convolutions of a graph.
  Status measure_convolutions(size_t graph);
  // Creates one PlacementRun per graph, with the machine, the rules and the choice of pools.
  void new_runs(placement::PoolChoice choice);
  Status run_passes(const PassStage& stage, size_t graph);
  // Checks that each rule of --place matches an op or value. With CompileOptions::allow_unmatched,
  // a rule without a match is a warning.
  Status check_rules_match();
  // Lowers the graphs and chooses the pools of their buffers, unless that is done already.
  Status lower();
  Status lower_for_targets();
  // Inlines calls, chooses a pool for each buffer without a required scope, and spills values from
  // pools over their limits.
  Status choose_pools();
  Status plan();
  // Runs all stages up to the memory plan.
  Status plan_only();
  void add_alternatives(MemoryExplanation::Function& main);
  void find_options(MemoryExplanation::Arena& arena) const;
  std::optional<int64_t> main_height(const MemoryExplanation::Arena& arena) const;
  void dump_plan(const memory::Plan& plan, const ShapeProgram& shapes,
                 const std::map<std::string, int64_t>& symbols);
  std::optional<int64_t> known_bytes(DimExpr bytes) const;
  Result<double> copy_seconds(const CopyExplanation::Copy& copy) const;
  CopyExplanation::Copy explained(const placement::Copy& copy, bool is_spill) const;
  void explain_limits(CopyExplanation& explanation);
  Status make_images();

  const CompileOptions& options_;
  const codegen::Backends& backends_;
  CompileOutput output_;
  std::string stage_;
  std::vector<PassTime> pass_times_;  // of the current stage
  std::chrono::steady_clock::time_point began_;

  Machine machine_ = Machine::host();
  std::vector<placement::Rule> rules_;

  std::shared_ptr<mlir::MLIRContext> context_;
  // The graphs, and the results of placing and lowering them.
  struct Placed {
    std::vector<mlir::OwningOpRef<mlir::ModuleOp>> graphs;  // one for main, then one per variant
    std::vector<std::shared_ptr<PlacementRun>> runs;        // by index of `graphs`
    std::optional<codegen::KernelModules> kernels;
    std::optional<Program> program;  // none if the graphs are not lowered yet
    std::vector<memory::SpillReport> spills;
    std::string dumped;  // output that is not yet passed to CompileOptions::dump

    Placed clone() const;    // of the graphs only; REQUIRES: they are not placed yet
    double seconds() const;  // estimated time of all copies and spills in a call
  };
  Placed placed_;
  std::vector<ExternalExplanation::Part> external_parts_;  // of main; see explain_external()
  bool holds_dump_ = false;                                // dump() appends to `placed_.dumped`
  std::vector<kernels::GraphFunction> functions_;          // by index of `placed_.graphs`
  bytecode::PlannedFunctions planned_;
  format::ModuleContents module_;
};

}  // namespace scopevm::compiler
