// The passes that passes.td declares. Each pass calls a function of its stage.
#include "compiler/passes/passes.h"
#include "compiler/codegen/backends.h"

#include "compiler/fusion/fuse.h"
#include "compiler/graph/graph_ops.h"
#include "compiler/graph/parallel/batch_dims.h"
#include "compiler/graph/rewrite/passes.h"
#include "compiler/split/split.h"
#include "llvm/Support/MemoryBuffer.h"

namespace scopevm::compiler {

#define GEN_PASS_DEF_SIMPLIFYPASS
#define GEN_PASS_DEF_UNROLLPASS
#define GEN_PASS_DEF_WIDENPASS
#define GEN_PASS_DEF_HOISTPASS
#define GEN_PASS_DEF_BATCHDIMSPASS
#define GEN_PASS_DEF_SPLITPASS
#define GEN_PASS_DEF_PLACEPASS
#define GEN_PASS_DEF_SENDEARLYPASS
#define GEN_PASS_DEF_VERIFYPLACESPASS
#define GEN_PASS_DEF_LAYOUTPASS
#define GEN_PASS_DEF_FUSEPASS
#include "compiler/passes/passes.h.inc"

namespace {

class SimplifyPass : public impl::SimplifyPassBase<SimplifyPass> {
  void runOnOperation() override {
    if (failed(graph::simplify(getOperation()))) signalPassFailure();
  }
};

class WidenPass : public impl::WidenPassBase<WidenPass> {
  void runOnOperation() override { graph::widen_halves(getOperation()); }
};

class UnrollPass : public impl::UnrollPassBase<UnrollPass> {
  void runOnOperation() override { graph::unroll_recursion(getOperation()); }
};

class HoistPass : public impl::HoistPassBase<HoistPass> {
  void runOnOperation() override {
    if (failed(graph::hoist(getOperation()))) signalPassFailure();
  }
};

class BatchDimsPass : public impl::BatchDimsPassBase<BatchDimsPass> {
  void runOnOperation() override { graph::find_batch_dims(getOperation()); }
};

class FusePass : public impl::FusePassBase<FusePass> {
  void runOnOperation() override {
    if (failed(fusion::fuse(getOperation()))) signalPassFailure();
  }
};

// Each placement pass calls this before the pipeline runs. Only the first call for a `run` reads
// the machine description and the rules.
llvm::LogicalResult load(PlacementRun& run, mlir::MLIRContext* context) {
  run.status = run.load();
  if (run.status.ok()) return mlir::success();
  return mlir::emitError(mlir::UnknownLoc::get(context)) << std::string(run.status.message());
}

class PlacePass : public impl::PlacePassBase<PlacePass> {
 public:
  using PlacePassBase::PlacePassBase;
  PlacePass() = default;
  PlacePass(std::shared_ptr<PlacementRun> run, bool only) : run_(std::move(run)) {
    machine = run_->machine_file;
    kernel_scopes_only = only;
    if (!only) rules = run_->rule_strings;
  }

  llvm::LogicalResult initialize(mlir::MLIRContext* context) override {
    if (!run_) {
      run_ = std::make_shared<PlacementRun>();
      run_->machine_file = machine;
      run_->rule_strings.assign(rules.begin(), rules.end());
    }
    return load(*run_, context);
  }

  void runOnOperation() override {
    if (kernel_scopes_only && !placement::has_kernel_scopes(getOperation()))
      return markAllAnalysesPreserved();
    Result<placement::Report> placed = placement::place(
        getOperation(), run_->machine,
        kernel_scopes_only ? std::vector<placement::Rule>() : run_->rules, run_->choice);
    if (placed.ok()) {
      // The report of the second placement lacks the matched rules, so only its copies and their
      // time are used.
      if (kernel_scopes_only) {
        run_->report.copies = std::move(placed->copies);
        run_->report.seconds = placed->seconds;
      } else {
        run_->report = *std::move(placed);
      }
      return;
    }
    run_->status = placed.status();
    getOperation().emitError() << std::string(run_->status.message());
    signalPassFailure();
  }

 private:
  std::shared_ptr<PlacementRun> run_;
};

// A pass for the machine of a run: of the given one, or of one that the pass's option describes.
template <typename Base>
class MachinePass : public Base {
 public:
  using Base::Base;
  MachinePass() = default;
  explicit MachinePass(std::shared_ptr<PlacementRun> run) : run_(std::move(run)) {
    this->machine = run_->machine_file;
  }

  llvm::LogicalResult initialize(mlir::MLIRContext* context) override {
    if (!run_) {
      run_ = std::make_shared<PlacementRun>();
      run_->machine_file = this->machine;
    }
    return load(*run_, context);
  }

 protected:
  std::shared_ptr<PlacementRun> run_;
};

class SplitPass : public MachinePass<impl::SplitPassBase<SplitPass>> {
 public:
  using MachinePass::MachinePass;
  explicit SplitPass(std::shared_ptr<PlacementRun> run) : MachinePass(std::move(run)) {
    pipeline = run_->split.pipeline;
    tensor = run_->split.tensor;
  }

  void runOnOperation() override {
    run_->status =
        split::split(getOperation(), run_->machine, {tensor, pipeline}, *run_->split_states);
    if (run_->status.ok()) return;
    getOperation().emitError() << std::string(run_->status.message());
    signalPassFailure();
  }
};

class SendEarlyPass : public MachinePass<impl::SendEarlyPassBase<SendEarlyPass>> {
 public:
  using MachinePass::MachinePass;

  void runOnOperation() override { placement::send_early(getOperation(), run_->machine); }
};

class VerifyPlacesPass : public MachinePass<impl::VerifyPlacesPassBase<VerifyPlacesPass>> {
 public:
  using MachinePass::MachinePass;

  void runOnOperation() override {
    run_->status = placement::verify_places(getOperation(), run_->machine);
    if (run_->status.ok()) run_->status = placement::verify_local_values(getOperation());
    if (run_->status.ok()) return markAllAnalysesPreserved();
    getOperation().emitError() << std::string(run_->status.message());
    signalPassFailure();
  }
};

class LayoutPass : public MachinePass<impl::LayoutPassBase<LayoutPass>> {
 public:
  using MachinePass::MachinePass;

  void runOnOperation() override {
    run_->layouts = layouts::choose_layouts(getOperation(), run_->machine, run_->layout_options);
  }
};

}  // namespace

Status PlacementRun::load() {
  if (is_loaded) return {};
  if (!machine_file.empty()) {
    auto text = llvm::MemoryBuffer::getFile(machine_file);
    if (!text) return Status(StatusCode::kNotFound, machine_file + ": file not found");
    SCOPEVM_ASSIGN_OR_RETURN(machine, parse_machine((*text)->getBuffer(), machine_file,
                                                    codegen::built_in_backends().kinds()));
  }
  for (const std::string& text : rule_strings) {
    SCOPEVM_ASSIGN_OR_RETURN(rules.emplace_back(), placement::parse_rule(text));
  }
  is_loaded = true;
  return {};
}

std::unique_ptr<mlir::Pass> create_place_pass(std::shared_ptr<PlacementRun> run,
                                              bool kernel_scopes_only) {
  return std::make_unique<PlacePass>(std::move(run), kernel_scopes_only);
}

std::unique_ptr<mlir::Pass> create_split_pass(std::shared_ptr<PlacementRun> run) {
  return std::make_unique<SplitPass>(std::move(run));
}

std::unique_ptr<mlir::Pass> create_layout_pass(std::shared_ptr<PlacementRun> run) {
  return std::make_unique<LayoutPass>(std::move(run));
}

std::unique_ptr<mlir::Pass> create_send_early_pass(std::shared_ptr<PlacementRun> run) {
  return std::make_unique<SendEarlyPass>(std::move(run));
}

std::unique_ptr<mlir::Pass> create_verify_places_pass(std::shared_ptr<PlacementRun> run) {
  return std::make_unique<VerifyPlacesPass>(std::move(run));
}

}  // namespace scopevm::compiler
