// Compilation: the state of one compilation and its pipeline stages. run() executes all stages; the
// explain functions execute the stages that they need.
//
// Each stage processes main and all its variants before the next stage begins. They share kernels
// and constants.
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
#include "vm/format/module_contents.h"

namespace scopevm::compiler {

class Compilation {
 public:
  // `options` and `backends` must outlive the object. Only one of the three functions below can be
  // called, and only once.
  explicit Compilation(const CompileOptions& options,
                       const codegen::Backends& backends = codegen::built_in_backends())
      : options_(options), backends_(backends) {}

  Result<CompileOutput> run();
  Result<ShapeExplanation> explain_shapes();
  Result<CopyExplanation> explain_copies();

 private:
  Status check_options() const;
  // Ends the current stage and starts to measure `stage`.
  void begin(std::string_view stage, int64_t done = 0, int64_t total = 0);
  void end();
  bool wants(std::string_view stage) const { return options_.dump && options_.dump_after == stage; }
  void dump(std::string_view stage, const std::string& text) {
    if (wants(stage)) options_.dump(text);
  }
  void dump(std::string_view stage, mlir::ModuleOp module);

  // The pipeline stages, in order.
  Status import(const std::vector<Variant>& variants);
  Status import_function(frontend::ModelFile& file, const std::string& name,
                         const std::map<std::string, DimBound>& dims);
  Status read_machine();
  Status run_pass_stages();
  Status run_passes(const PassStage& stage, size_t graph);
  // Checks that each rule of --place matches an op or value.
  Status check_rules_match();
  Status lower_for_targets();
  // Chooses a pool for each buffer without a required scope. Spills values from pools over their
  // limits, and returns the spills.
  Result<std::vector<memory::SpillReport>> choose_pools();
  Status plan();
  void dump_plan(const memory::Plan& plan, const ShapeProgram& shapes,
                 const std::map<std::string, int64_t>& symbols);
  std::optional<int64_t> known_bytes(DimExpr bytes) const;
  Result<double> copy_seconds(const CopyExplanation::Copy& copy) const;
  CopyExplanation::Copy explained(const placement::Copy& copy, bool is_spill) const;
  Status explain_limits(CopyExplanation& explanation);
  Status make_images();

  const CompileOptions& options_;
  const codegen::Backends& backends_;
  CompileOutput output_;
  std::string stage_;
  std::vector<PassTime> pass_times_;  // of the current stage
  std::chrono::steady_clock::time_point began_;

  Machine machine_ = Machine::host();
  std::vector<placement::Rule> rules_;
  std::vector<std::shared_ptr<PlacementRun>> placements_;  // by index of `graphs_`

  std::unique_ptr<mlir::MLIRContext> context_ = make_context();
  std::vector<mlir::OwningOpRef<mlir::ModuleOp>> graphs_;  // one per function, main first
  std::vector<kernels::GraphFunction> functions_;  // the functions of `graphs_`, in the same order
  std::optional<codegen::KernelModules> kernels_;
  Program program_;
  bytecode::PlannedFunctions planned_;
  format::ModuleContents module_;
};

}  // namespace scopevm::compiler
