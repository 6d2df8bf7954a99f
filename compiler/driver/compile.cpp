// compile(): runs the pipeline stages in order, and dumps the result of the stage that the options
// name.
#include "compiler/driver/compilation.h"

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "compiler/memory/plan.h"
#include "compiler/placement/place.h"
#include "compiler/program_text.h"
#include "compiler/shapes/program/emit_llvm.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Pass/PassInstrumentation.h"
#include "mlir/Pass/PassManager.h"
#include "vm/format/disassembler.h"
#include "vm/format/writer.h"

namespace scopevm::compiler {
namespace {

const std::string kMain = "main";  // the frontend's name for the model's function

// Reports the time and result of each pass that a PassManager runs.
class PassObserver : public mlir::PassInstrumentation {
 public:
  using Report = std::function<void(llvm::StringRef pass, double seconds, mlir::Operation* result)>;
  explicit PassObserver(Report report) : report_(std::move(report)) {}

  void runBeforePass(mlir::Pass*, mlir::Operation*) override {
    began_ = std::chrono::steady_clock::now();
  }
  void runAfterPass(mlir::Pass* pass, mlir::Operation* op) override {
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - began_;
    report_(pass->getArgument(), elapsed.count(), op);
  }

 private:
  Report report_;
  std::chrono::steady_clock::time_point began_;
};

}  // namespace

Status Compilation::check_options() const {
  register_passes();
  if (options_.dump_after.empty() ||
      std::ranges::find(kStages, options_.dump_after) != std::end(kStages) ||
      mlir::PassInfo::lookup(options_.dump_after))
    return {};
  std::string names;
  for (std::string_view stage : kStages) names += (names.empty() ? "" : ", ") + std::string(stage);
  return Status(StatusCode::kInvalidArgument,
                "unknown stage or pass \"" + options_.dump_after + "\"; the stages are " + names);
}

void Compilation::begin(std::string_view stage, int64_t done, int64_t total) {
  end();
  stage_ = stage;
  began_ = std::chrono::steady_clock::now();
  if (options_.progress) options_.progress(stage, done, total);
}

// Adds the time of the current stage to its entry. A stage that runs several times has one entry.
void Compilation::end() {
  if (stage_.empty()) return;
  std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - began_;
  rusage use{};
  getrusage(RUSAGE_SELF, &use);
  auto found = std::ranges::find(output_.times, stage_, &StageTime::stage);
  if (found == output_.times.end()) found = output_.times.insert(found, {stage_});
  found->seconds += elapsed.count();
  // Linux reports kilobytes.
  found->peak_bytes = int64_t{use.ru_maxrss} * 1024;
  std::ranges::move(pass_times_, std::back_inserter(found->passes));
  pass_times_.clear();
  stage_.clear();
}

void Compilation::dump(std::string_view stage, mlir::ModuleOp module) {
  if (!wants(stage)) return;
  // Elides the elements of large constants, which would dominate the output.
  constexpr int64_t kLargestPrinted = 16;
  std::string text;
  llvm::raw_string_ostream stream(text);
  module.print(stream, mlir::OpPrintingFlags()
                           .elideLargeElementsAttrs(kLargestPrinted)
                           .elideLargeResourceString(kLargestPrinted));
  options_.dump(text);
}

Status Compilation::import(const std::vector<Variant>& variants) {
  // The file is imported once for main, and once for each variant.
  frontend::ModelFile file(options_.model_path);
  SCOPEVM_RETURN_IF_ERROR(import_function(file, kMain, options_.dims));
  for (const Variant& variant : variants)
    SCOPEVM_RETURN_IF_ERROR(import_function(file, kMain + "[" + variant.label + "]", variant.dims)
                                .with_context("variant " + variant.label));
  return {};
}

Status Compilation::import_function(frontend::ModelFile& file, const std::string& name,
                                    const std::map<std::string, DimBound>& dims) {
  SCOPEVM_ASSIGN_OR_RETURN(frontend::ImportedModule graph, file.import({dims}, *context_));
  // One program contains all functions, so their names must differ.
  if (auto main = graph->lookupSymbol<mlir::func::FuncOp>(kMain)) main.setName(name);
  dump("frontend", *graph);
  functions_.push_back({*graph, name, dims});
  graphs_.push_back(std::move(graph));
  return {};
}

Status Compilation::read_machine() {
  if (!options_.machine_json.empty()) {
    SCOPEVM_ASSIGN_OR_RETURN(
        machine_, parse_machine(options_.machine_json, options_.machine_name, backends_.kinds()));
  }
  for (const std::string& text : options_.places) {
    SCOPEVM_ASSIGN_OR_RETURN(placement::Rule rule, placement::parse_rule(text));
    rules_.push_back(std::move(rule));
  }
  return {};
}

Status Compilation::run_pass_stages() {
  for (size_t i = 0; i < graphs_.size(); ++i) {
    auto run = std::make_shared<PlacementRun>();
    run->machine = machine_;
    // The crash reproducer prints the file name and the rules as pass options. PlacementRun::load()
    // must not read the machine again, because the description may not be in a file.
    if (!options_.machine_json.empty()) run->machine_file = options_.machine_name;
    run->rules = rules_;
    run->rule_strings = options_.places;
    run->is_loaded = true;
    placements_.push_back(std::move(run));
  }
  for (const PassStage& stage : pass_stages()) {
    begin(stage.name);
    for (size_t i = 0; i < graphs_.size(); ++i) SCOPEVM_RETURN_IF_ERROR(run_passes(stage, i));
  }
  return check_rules_match();
}

Status Compilation::check_rules_match() {
  for (size_t i = 0; i < rules_.size(); ++i) {
    // Simplification may remove the matched op from some variants, so a match in one is enough.
    if (std::ranges::any_of(placements_, [&](const auto& run) { return run->report.matched[i]; }))
      continue;
    const std::string message = "--place " + rules_[i].text + ": rule matches no op or value";
    if (!options_.allow_unmatched)
      return Status(StatusCode::kInvalidArgument, message + "; --allow-unmatched permits this");
    output_.warnings.push_back(message);
  }
  return {};
}

Status Compilation::run_passes(const PassStage& stage, size_t graph) {
  auto passes = mlir::PassManager::on<mlir::ModuleOp>(context_.get());
  if (!options_.reproducer_path.empty())
    passes.enableCrashReproducerGeneration(options_.reproducer_path);
  passes.addInstrumentation(std::make_unique<PassObserver>(
      [this](llvm::StringRef pass, double seconds, mlir::Operation* result) {
        auto known = std::ranges::find(pass_times_, pass, &PassTime::pass);
        if (known == pass_times_.end()) known = pass_times_.insert(known, {pass.str()});
        known->seconds += seconds;
        dump(pass, mlir::cast<mlir::ModuleOp>(result));
      }));
  stage.add_passes(passes, placements_[graph]);
  std::string diagnostics;
  mlir::ScopedDiagnosticHandler handler(context_.get(), [&](mlir::Diagnostic& diagnostic) {
    diagnostics += (diagnostics.empty() ? "" : "; ") + diagnostic.str();
    return mlir::success();
  });
  if (failed(passes.run(*graphs_[graph]))) {
    const Status& placement = placements_[graph]->status;
    const std::string reproducer = options_.reproducer_path.empty()
                                       ? ""
                                       : "; graph and passes are in " + options_.reproducer_path;
    // An invalid placement is a user error with its own status code. Any other failure of a pass is
    // a defect of the compiler.
    if (placement.ok())
      return Status(StatusCode::kInternal, "graph passes failed: " + diagnostics + reproducer);
    return Status(placement.code(), std::string(placement.message()) + reproducer);
  }
  dump(stage.name, *graphs_[graph]);
  return {};
}

// Lowers the graphs once per target (a round). The Program must be identical for all targets.
Status Compilation::lower_for_targets() {
  SCOPEVM_ASSIGN_OR_RETURN(kernels_, codegen::KernelModules::create(*context_, backends_, machine_,
                                                                    options_.target_cpus));
  std::string text;
  for (size_t round = 0; round < kernels_->rounds(); ++round) {
    SCOPEVM_ASSIGN_OR_RETURN(
        Program program,
        kernels::lower_program(functions_, machine_, kernels_->begin_round(round, machine_)));
    std::string program_text = str(program);
    // All targets share one bytecode, so a kernel for one target must not change buffers or
    // launches.
    if (!text.empty() && program_text != text)
      return Status(StatusCode::kInternal,
                    "internal error: target " + kernels_->round_name(round) +
                        " produced a different program than the first target");
    text = std::move(program_text);
    program_ = std::move(program);
  }
  dump("kernels", text);
  return {};
}

void Compilation::dump_plan(const memory::Plan& plan, const ShapeProgram& shapes,
                            const std::map<std::string, int64_t>& symbols) {
  for (const memory::Arena& arena : plan.arenas) {
    if (arena.segment > SegmentIndex{0}) continue;
    // On a machine with one device, the workspace pool is printed without its name.
    if (machine_.devices.size() > 1 ||
        arena.pool != machine_.workspace_pool(machine_.host_device())) {
      dump("memory", "# " + machine_.pool_name(arena.pool) + "\n");
    }
    dump("memory", memory::to_csv(plan.at(arena, shapes, symbols, 1)));
  }
}

Result<std::vector<memory::SpillReport>> Compilation::choose_pools() {
  memory::use_pinned(program_);
  SCOPEVM_RETURN_IF_ERROR(memory::use_stacks(program_));
  return memory::enforce_limits(program_);
}

Status Compilation::plan() {
  begin("memory");
  SCOPEVM_RETURN_IF_ERROR(choose_pools().status());
  // Renumbers devices and pools, so machine_ must be updated before offsets are planned.
  memory::remove_unused_devices(program_);
  machine_ = program_.machine;
  for (const Function& function : program_.functions) {
    begin("shapes");
    SCOPEVM_ASSIGN_OR_RETURN(ShapeProgram shapes, ShapeProgram::create(function));
    dump("shapes", shapes.str());
    begin("memory");
    SCOPEVM_ASSIGN_OR_RETURN(memory::Plan plan, memory::plan(machine_, function, shapes));
    std::map<std::string, int64_t> symbols;
    for (const Dimension& dimension : function.dimensions)
      symbols[dimension.name] = dimension.representative;
    for (const Segment& segment : function.segments)
      // Data-dependent sizes are unknown before a call. Arenas of later segments are not dumped.
      for (const RuntimeSymbol& defined : segment.symbols) symbols[defined.symbol] = 0;
    if (wants("memory")) dump_plan(plan, shapes, symbols);
    planned_.push_back({std::move(shapes), std::move(plan)});
  }
  return {};
}

Status Compilation::make_images() {
  codegen::ImagesRequest request;
  request.threads = options_.threads > 0
                        ? options_.threads
                        // hardware_concurrency() is 0 if the number is unknown.
                        : static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  request.add_functions = [&](llvm::Module& module) {
    for (FunctionIndex f : program_.functions.indices()) {
      const Function& function = program_.functions[f];
      for (SegmentIndex segment : function.segments.indices())
        emit_shape_function(planned_[f].shapes, segment, bytecode::shape_symbol(function, segment),
                            module);
    }
  };
  if (options_.progress)
    request.progress = [&](int64_t done, int64_t total) {
      options_.progress("codegen", done, total);
    };
  if (wants("codegen")) request.dump = options_.dump;
  SCOPEVM_ASSIGN_OR_RETURN(module_.images, kernels_->make_images(program_, request));
  return {};
}

Result<CompileOutput> Compilation::run() {
  SCOPEVM_RETURN_IF_ERROR(check_options());
  SCOPEVM_ASSIGN_OR_RETURN(const std::vector<Variant> variants, check_variants(options_));
  SCOPEVM_RETURN_IF_ERROR(read_machine());
  begin("frontend");
  SCOPEVM_RETURN_IF_ERROR(import(variants));
  SCOPEVM_RETURN_IF_ERROR(run_pass_stages());
  begin("kernels");
  SCOPEVM_RETURN_IF_ERROR(lower_for_targets());
  SCOPEVM_RETURN_IF_ERROR(plan());
  begin("bytecode");
  SCOPEVM_ASSIGN_OR_RETURN(module_, bytecode::emit_module(program_, planned_));
  SCOPEVM_ASSIGN_OR_RETURN(module_.variants, variant_table(program_, variants));
  begin("codegen");
  SCOPEVM_RETURN_IF_ERROR(make_images());
  begin("bytecode");
  if (wants("bytecode")) dump("bytecode", format::disassemble(module_));
  output_.module = format::write_module(module_);
  end();
  std::ranges::sort(output_.times, {}, [](const StageTime& time) {
    return std::ranges::find(kStages, time.stage) - std::begin(kStages);
  });
  return std::move(output_);
}

}  // namespace scopevm::compiler

namespace scopevm {

Result<CompileOutput> compile(const CompileOptions& options) {
  return compiler::Compilation(options).run();
}

}  // namespace scopevm
