// compile(): runs the pipeline stages in order, and dumps the result of the stage or pass that the
// options name.
#include "compiler/driver/compilation.h"

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <ranges>
#include <thread>

#include "compiler/driver/tune.h"
#include "compiler/external/external.h"
#include "compiler/external/library.h"
#include "compiler/external/take.h"
#include "compiler/memory/plan.h"
#include "compiler/placement/place.h"
#include "compiler/program_text.h"
#include "compiler/shapes/program/emit_llvm.h"
#include "compiler/support/leaked_on_exception.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Pass/PassInstrumentation.h"
#include "mlir/Pass/PassManager.h"
#include "scopevm/kernel_abi.h"
#include "vm/format/assembly/disassembler.h"
#include "vm/format/binary/launch_checksum.h"
#include "vm/format/binary/writer.h"
#include "vm/format/verify/verify.h"

namespace scopevm::compiler {
namespace {

const std::string kMain = "main";  // the frontend's name for the model's function

// Reports the time and result of each pass that succeeds.
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
  SCOPEVM_RETURN_IF_ERROR(check_bounds(options_.dims));
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
  dump(stage, text);
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
  SCOPEVM_ASSIGN_OR_RETURN(
      frontend::ImportedModule graph,
      file.import({dims, options_.external_functions, options_.external_functions_name},
                  *context_));
  for (const std::string& text : graph.warnings) {
    const std::string warning = options_.model_path + ": " + text;
    // The variants have equal declarations.
    if (std::ranges::find(output_.warnings, warning) == output_.warnings.end())
      output_.warnings.push_back(warning);
  }
  // One program contains main and all its variants, so their names must differ.
  if (auto main = graph->lookupSymbol<mlir::func::FuncOp>(kMain)) main.setName(name);
  external::complete_declarations(*graph);
  dump("frontend", *graph);
  functions_.push_back({*graph, name, dims});
  placed_.graphs.push_back(std::move(graph));
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

// Libraries choose their parts at the end of the stage, when the graph is simplified and nothing is
// placed yet.
Status Compilation::run_graph_stage() {
  SCOPEVM_RETURN_IF_ERROR(external::check_libraries(options_.external_libraries));
  const PassStage& graph = pass_stages().front();
  begin(graph.name);
  new_runs(placement::PoolChoice::kAny);
  external::MeasurePart measure;
  if (options_.tuning.measure) {
    SCOPEVM_RETURN_IF_ERROR(check_requests(options_, *placed_.graphs.front()));
    measure = [tuner = Tuner(options_, backends_, context_)](
                  external::Alternatives part) -> Result<PartSeconds> {
      std::vector<mlir::OwningOpRef<mlir::ModuleOp>> graphs;
      graphs.push_back(std::move(part.library));
      graphs.push_back(std::move(part.own));
      SCOPEVM_ASSIGN_OR_RETURN(const Tuner::Seconds seconds,
                               tuner({.graphs = std::move(graphs),
                                      .key = std::move(part.key),
                                      .calls = std::move(part.calls)}));
      return PartSeconds{.library = seconds[0], .own = seconds[1]};
    };
  }
  for (size_t i = 0; i < placed_.graphs.size(); ++i) {
    SCOPEVM_RETURN_IF_ERROR(run_passes(graph, i));
    std::vector<ExternalExplanation::Part> parts;
    for (const scopevm_external_library* library : options_.external_libraries)
      SCOPEVM_RETURN_IF_ERROR(external::take(*placed_.graphs[i], *library, measure, parts));
    if (i == 0) external_parts_ = std::move(parts);
  }
  return {};
}

Status Compilation::run_pass_stages(bool is_lowered) {
  SCOPEVM_RETURN_IF_ERROR(run_graph_stage());
  return is_lowered && std::ranges::any_of(machine_.pools, &Pool::is_limited)
             ? place_within_limits()
             : place(placement::PoolChoice::kAny);
}

void Compilation::new_runs(placement::PoolChoice choice) {
  placed_.runs.clear();
  for (size_t i = 0; i < placed_.graphs.size(); ++i) {
    auto run = std::make_shared<PlacementRun>();
    run->machine = machine_;
    // The crash reproducer prints the file name and the rules as pass options. PlacementRun::load()
    // must not read the machine again, because the description may not be in a file.
    if (!options_.machine_json.empty()) run->machine_file = options_.machine_name;
    run->rules = rules_;
    run->rule_strings = options_.places;
    run->is_loaded = true;
    run->choice = choice;
    run->layout_options.layout = options_.image_layout;
    run->layout_options.fast_conv = options_.fast_conv;
    placed_.runs.push_back(std::move(run));
  }
}

Status Compilation::place(placement::PoolChoice choice) {
  new_runs(choice);
  for (const PassStage& stage : pass_stages() | std::views::drop(1)) {
    begin(stage.name);
    for (size_t i = 0; i < placed_.graphs.size(); ++i) {
      if (stage.name == "fusion") SCOPEVM_RETURN_IF_ERROR(measure_convolutions(i));
      SCOPEVM_RETURN_IF_ERROR(run_passes(stage, i));
    }
  }
  return check_rules_match();
}

Status Compilation::place_and_lower(placement::PoolChoice choice) {
  SCOPEVM_RETURN_IF_ERROR(place(choice));
  return lower();
}

Status Compilation::place_within_limits() {
  holds_dump_ = true;
  const Status status = take_cheaper_placement();
  holds_dump_ = false;
  if (!placed_.dumped.empty()) options_.dump(placed_.dumped);
  return status;
}

Status Compilation::take_cheaper_placement() {
  Placed other = placed_.clone();
  const std::vector<std::string> warnings = output_.warnings;
  Status first = place_and_lower(placement::PoolChoice::kAny);
  const bool has_choice = std::ranges::any_of(
      placed_.runs, [](const auto& run) { return run->report.has_limited_choice; });
  const bool is_within = first.ok() && placed_.spills.empty();
  if (!has_choice || is_within || (!first.ok() && first.code() != StatusCode::kResourceLimit))
    return first;
  std::swap(placed_, other);
  output_.warnings = warnings;
  Status second = place_and_lower(placement::PoolChoice::kUnlimited);
  if (!first.ok() || (second.ok() && placed_.seconds() < other.seconds())) return second;
  std::swap(placed_, other);
  return {};
}

Compilation::Placed Compilation::Placed::clone() const {
  Placed copy;
  for (const auto& graph : graphs)
    copy.graphs.emplace_back(mlir::cast<mlir::ModuleOp>(graph.get()->clone()));
  return copy;
}

double Compilation::Placed::seconds() const {
  double sum = 0;
  for (const auto& run : runs) sum += run->report.seconds;
  for (const memory::SpillReport& spill : spills) sum += spill.seconds;
  return sum;
}

Status Compilation::check_rules_match() {
  for (size_t i = 0; i < rules_.size(); ++i) {
    // Simplification may remove the matched op from some variants, so a match in one is enough.
    if (std::ranges::any_of(placed_.runs, [&](const auto& run) { return run->report.matched[i]; }))
      continue;
    const std::string message = "--place " + rules_[i].text + ": rule matches no op or value";
    if (!options_.allow_unmatched)
      return Status(StatusCode::kInvalidArgument, message + "; --allow-unmatched permits this");
    output_.warnings.push_back(message);
  }
  return {};
}

Status Compilation::run_passes(const PassStage& stage, size_t graph) {
  const LeakedOnException<mlir::PassManager> manager(context_.get(),
                                                     mlir::ModuleOp::getOperationName());
  mlir::PassManager& passes = *manager;
  if (!options_.reproducer_path.empty())
    passes.enableCrashReproducerGeneration(options_.reproducer_path);
  passes.addInstrumentation(std::make_unique<PassObserver>(
      [this](llvm::StringRef pass, double seconds, mlir::Operation* result) {
        auto known = std::ranges::find(pass_times_, pass, &PassTime::pass);
        if (known == pass_times_.end()) known = pass_times_.insert(known, {pass.str()});
        known->seconds += seconds;
        dump(pass, mlir::cast<mlir::ModuleOp>(result));
      }));
  stage.add_passes(passes, placed_.runs[graph]);
  std::string diagnostics;
  mlir::ScopedDiagnosticHandler handler(context_.get(), [&](mlir::Diagnostic& diagnostic) {
    diagnostics += (diagnostics.empty() ? "" : "; ") + diagnostic.str();
    return mlir::success();
  });
  if (failed(passes.run(*placed_.graphs[graph]))) {
    const Status& placement = placed_.runs[graph]->status;
    const std::string reproducer = options_.reproducer_path.empty()
                                       ? ""
                                       : "; graph and passes are in " + options_.reproducer_path;
    // An invalid placement is a user error with its own status code. Any other failure of a pass is
    // a defect of the compiler.
    if (placement.ok())
      return Status(StatusCode::kInternal, "graph passes failed: " + diagnostics + reproducer);
    return Status(placement.code(), std::string(placement.message()) + reproducer);
  }
  dump(stage.name, *placed_.graphs[graph]);
  return {};
}

Status Compilation::lower() {
  if (placed_.program) return {};
  begin("kernels");
  SCOPEVM_RETURN_IF_ERROR(lower_for_targets());
  begin("memory");
  return choose_pools();
}

// Lowers the graphs in rounds, one per target. The Program must be identical in all rounds.
Status Compilation::lower_for_targets() {
  for (size_t i = 0; i < functions_.size(); ++i) functions_[i].graph = *placed_.graphs[i];
  SCOPEVM_ASSIGN_OR_RETURN(
      placed_.kernels,
      codegen::KernelModules::create(*context_, backends_, machine_, options_.target_cpus));
  std::string text;
  for (size_t round = 0; round < placed_.kernels->rounds(); ++round) {
    SCOPEVM_ASSIGN_OR_RETURN(Program program,
                             kernels::lower_program(functions_, machine_,
                                                    placed_.kernels->begin_round(round, machine_)));
    std::string program_text = str(program);
    // All targets share one bytecode, so their kernels must have the same buffers and launches.
    if (!text.empty() && program_text != text)
      return Status(StatusCode::kInternal,
                    "internal error: target " + placed_.kernels->round_name(round) +
                        " produced a different program than the first target");
    text = std::move(program_text);
    placed_.program = std::move(program);
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
    if (const auto placed = plan.at(machine_, arena, shapes, symbols, 1))
      if (const auto text = plan::to_csv(placed->problem, &placed->plan); text.ok())
        dump("memory", *text);
  }
}

Status Compilation::choose_pools() {
  memory::inline_calls(*placed_.program, options_.inline_limit);
  memory::use_pinned(*placed_.program);
  SCOPEVM_RETURN_IF_ERROR(memory::use_stacks(*placed_.program));
  SCOPEVM_ASSIGN_OR_RETURN(placed_.spills, memory::enforce_limits(*placed_.program));
  memory::use_fast_scratch(*placed_.program);
  return {};
}

Status Compilation::plan() {
  begin("memory");
  // Renumbers devices and pools, so machine_ must be updated before offsets are planned.
  memory::remove_unused_devices(*placed_.program);
  machine_ = placed_.program->machine;
  for (const Function& function : placed_.program->functions) {
    begin("shapes");
    SCOPEVM_ASSIGN_OR_RETURN(ShapeProgram shapes, ShapeProgram::create(function));
    dump("shapes", shapes.str());
    begin("memory");
    SCOPEVM_ASSIGN_OR_RETURN(memory::Plan plan, memory::make_plan(machine_, function, shapes));
    std::map<std::string, int64_t> symbols;
    for (const Dimension& dimension : function.dimensions)
      symbols[dimension.name] = dimension.representative;
    for (const Segment& segment : function.segments)
      // Data-dependent sizes are unknown before a call. The value 0 is a placeholder: dump_plan()
      // omits the arenas that depend on it, those of later segments.
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
    for (FunctionIndex f : placed_.program->functions.indices()) {
      const Function& function = placed_.program->functions[f];
      for (SegmentIndex segment : function.segments.indices())
        emit_shape_function(planned_[f].shapes, segment, bytecode::shape_symbol(function, segment),
                            module);
      const bool is_variant = std::ranges::any_of(
          module_.variants, [&](const auto& variant) { return variant.function == f.value; });
      if (function.name != kMain && !is_variant) continue;
      const auto emit_bound = [&](const char* prefix, const Result<ShapeProgram>& program) {
        if (!program.ok()) return;
        emit_shape_function(*program, SegmentIndex{0}, prefix + function.name, module);
      };
      emit_bound(kBoundPrefix, bytecode::bound_program(machine_, function, planned_[f]));
      emit_bound(kRangeBoundPrefix, bytecode::range_bound_program(machine_, function, planned_[f]));
    }
    emit_number(format::kLaunchChecksumSymbol, format::launch_checksum(module_), module);
  };
  if (options_.progress)
    request.progress = [&](int64_t done, int64_t total) {
      options_.progress("codegen", done, total);
    };
  if (wants("codegen")) request.dump = options_.dump;
  SCOPEVM_ASSIGN_OR_RETURN(module_.images, placed_.kernels->make_images(*placed_.program, request));
  return {};
}

Result<CompileOutput> Compilation::run() { return is_tuned() ? run_tuned() : run_once(); }

Result<CompileOutput> Compilation::run_once() {
  SCOPEVM_RETURN_IF_ERROR(check_options());
  SCOPEVM_ASSIGN_OR_RETURN(const std::vector<Variant> variants, check_variants(options_));
  SCOPEVM_RETURN_IF_ERROR(read_machine());
  begin("frontend");
  SCOPEVM_RETURN_IF_ERROR(import(variants));
  return finish(variants);
}

Result<CompileOutput> Compilation::run_graph(mlir::OwningOpRef<mlir::ModuleOp> graph) {
  SCOPEVM_RETURN_IF_ERROR(read_machine());
  functions_.push_back({*graph, kMain, options_.dims});
  placed_.graphs.push_back(std::move(graph));
  return finish({});
}

Result<CompileOutput> Compilation::finish(const std::vector<Variant>& variants) {
  SCOPEVM_RETURN_IF_ERROR(run_pass_stages());
  SCOPEVM_RETURN_IF_ERROR(lower());
  SCOPEVM_RETURN_IF_ERROR(plan());
  begin("bytecode");
  SCOPEVM_ASSIGN_OR_RETURN(module_, bytecode::emit_module(*placed_.program, planned_));
  SCOPEVM_ASSIGN_OR_RETURN(module_.variants, variant_table(*placed_.program, variants));
  begin("codegen");
  SCOPEVM_RETURN_IF_ERROR(make_images());
  begin("bytecode");
  if (wants("bytecode")) dump("bytecode", format::disassemble(module_));
  // The loader refuses some models that pass all stages: two inputs of one name, a rank above 16.
  SCOPEVM_RETURN_IF_ERROR(format::verify(module_).with_context(options_.model_path));
  output_.module = format::write_module(module_);
  for (const layouts::Report::Op& op : placed_.runs.front()->layouts.ops)
    if (op.is_blocked && !op.forms.empty()) output_.convolutions.push_back({op.name, op.forms});
  end();
  std::ranges::sort(output_.times, {}, [](const StageTime& time) {
    return std::ranges::find(kStages, time.stage) - std::begin(kStages);
  });
  return std::move(output_);
}

}  // namespace scopevm::compiler
