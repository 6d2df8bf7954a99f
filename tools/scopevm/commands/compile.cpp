// scopevm compile: compiles a model into a module file. On request, prints the result of a stage
// and the times of all stages.
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>

#include "tools/command_line/command.h"
#include "tools/command_line/exit_code.h"
#include "tools/command_line/parser.h"
#include "tools/files/file.h"
#include "tools/files/json_output.h"
#include "tools/files/standard_streams.h"
#include "tools/scopevm/compiler_library.h"
#include "tools/scopevm/model/dim_bounds.h"
#include "tools/scopevm/model/model_input.h"
#include "tools/scopevm/model/model_options.h"
#include "tools/scopevm/tuning/tuning.h"

namespace scopevm::tool {
namespace {

struct CompileCommand {
  ModelOptions model;
  std::string output;
  std::vector<std::string> variants;  // each in the syntax of `dims`
  std::vector<std::string> target_cpus;
  std::string dump_after;
  std::string reproducer;  // a file; empty: none
  int threads = 0;
  bool timing = false;
  bool json = false;
};

std::string stage_names() {
  std::string names;
  for (std::string_view stage : kStages) names += (names.empty() ? "" : ", ") + std::string(stage);
  return names;
}

// Checks stage names only. The compiler checks names of MLIR passes.
std::string check_stage(const std::string& name) {
  if (name.starts_with("sv-") || std::ranges::find(kStages, name) != std::end(kStages)) return "";
  return "unknown stage \"" + name + "\"; expected one of " + stage_names();
}

void declare(CLI::App& command, CompileCommand& options) {
  add_model(command, options.model);
  command.add_option("-o,--output", options.output, "Output module file");
  add_dims(command, options.model);
  command
      .add_option("--variant", options.variants,
                  "Add a variant for requests within these bounds: n=1 or n<=8,seq=128 "
                  "(one variant per option)")
      ->allow_extra_args(false);
  command
      .add_option("--target-cpu", options.target_cpus,
                  "Target CPU: host, x86-64, x86-64-v3, ..., optionally with features, such as "
                  "x86-64-v3,+avxvnni (one image per option)")
      ->allow_extra_args(false);
  add_places(command, options.model);
  add_external(command, options.model,
               "NAME or PATH of a plug-in: parts of the model that its library accepts become "
               "external functions");
  command
      .add_option("--dump-after", options.dump_after,
                  "Print the result of a pipeline stage: " + stage_names() +
                      "; or of an MLIR pass: sv-simplify, ...")
      ->check(check_stage);
  command
      .add_option("--threads", options.threads,
                  "Number of kernels to compile in parallel; 0: one per core")
      ->check(integer_in(0))
      ->capture_default_str();
  add_inline_limit(command, options.model,
                   "Inline a call if its caller has at most this number of steps afterwards; 0: "
                   "inline no call");
  add_image_layout(command, options.model);
  command.add_flag("--timing", options.timing,
                   "Print time, share and peak memory of each stage, and the time of its "
                   "passes, to stderr");
  command.add_option("--crash-reproducer", options.reproducer,
                     "Write the graph and the passes to this file if an MLIR pass fails (for "
                     "scopevm-opt --run-reproducer)");
  command.add_flag("--json", options.json, "With --timing: print the times as JSON to stdout");
}

// Progress display on a terminal: one line that is overwritten.
class ProgressLine {
 public:
  void show(std::string_view stage, int64_t done, int64_t total) {
    print_message(stderr, "\r\033[K{}", stage);
    if (total > 0) print_message(stderr, " {}/{}", done, total);
    std::fflush(stderr);
    is_shown_ = true;
  }
  ~ProgressLine() {
    // Clears the line, so that later messages do not follow the progress.
    if (is_shown_) print_message(stderr, "\r\033[K");
  }

 private:
  bool is_shown_ = false;
};

class Stopwatch {
 public:
  StageTime stop(const std::string& stage) const {
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - began_;
    rusage use{};
    getrusage(RUSAGE_SELF, &use);
    return {stage, elapsed.count(), int64_t{use.ru_maxrss} * 1024};
  }

 private:
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};

Result<CompiledModule> run_compiler(const CompileOptions& base) {
  const Stopwatch watch;
  SCOPEVM_ASSIGN_OR_RETURN(const CompilerLibrary compiler, CompilerLibrary::load());
  const StageTime loading = watch.stop("load");
  CompileOptions options = base;
  ProgressLine line;
  if (isatty(STDERR_FILENO) != 0)
    options.progress = [&line](std::string_view stage, int64_t done, int64_t total) {
      line.show(stage, done, total);
    };
  Result<CompiledModule> output = compiler.compile(options);
  if (output.ok()) output->times.insert(output->times.begin(), loading);
  return output;
}

double total_seconds(const std::vector<StageTime>& times) {
  double total = 0;
  for (const StageTime& time : times) total += time.seconds;
  return total;
}

void print_text(const std::vector<StageTime>& times) {
  const double total = total_seconds(times);
  print_message(stderr, "{:<12} {:>9} {:>7} {:>9}\n", "stage", "time, s", "share", "peak, MB");
  for (const StageTime& time : times) {
    print_message(stderr, "{:<12} {:>9.3f} {:>5.1f} % {:>9.1f}\n", time.stage, time.seconds,
                  100 * time.seconds / total, static_cast<double>(time.peak_bytes) / 1e6);
    for (const PassTime& pass : time.passes)
      print_message(stderr, "  {:<18} {:>9.3f}\n", pass.pass, pass.seconds);
  }
  print_message(stderr, "{:<12} {:>9.3f} {:>5.1f} % {:>9.1f}\n", "total", total, 100.0,
                static_cast<double>(times.back().peak_bytes) / 1e6);
}

void print_json(const std::vector<StageTime>& times) {
  nlohmann::ordered_json out{{"seconds", total_seconds(times)},
                             {"peak_bytes", times.back().peak_bytes},
                             {"stages", nlohmann::ordered_json::array()}};
  for (const StageTime& time : times) {
    nlohmann::ordered_json& stage = out["stages"].emplace_back();
    stage = {{"stage", time.stage}, {"seconds", time.seconds}, {"peak_bytes", time.peak_bytes}};
    for (const PassTime& pass : time.passes)
      stage["passes"].push_back({{"pass", pass.pass}, {"seconds", pass.seconds}});
  }
  write_json(out);
}

Status compile_to_file(const CompileCommand& command, CompileOptions options) {
  SCOPEVM_RETURN_IF_ERROR(check_is_no_input(
      command.output,
      {command.model.path, command.model.machine, command.model.external_functions}));
  SCOPEVM_RETURN_IF_ERROR(check_is_writable(command.output));
  SCOPEVM_RETURN_IF_ERROR(check_is_writable(command.reproducer));
  SCOPEVM_ASSIGN_OR_RETURN(const ModelInput model, ModelInput::open(command.model.path));
  options.model_path = model.path();
  SCOPEVM_ASSIGN_OR_RETURN(const std::shared_ptr<TuningCache> cache,
                           set_tuning(command.model.tune, options));
  Result<CompiledModule> compiled = run_compiler(options);
  // Also if the compilation fails later: measurements take long.
  if (cache) SCOPEVM_RETURN_IF_ERROR(cache->save());
  if (!compiled.ok()) return model.named(std::move(compiled).status());
  CompiledModule output = *std::move(compiled);
  if (!output.tuned.empty())
    print_message(stderr, "scopevm: external functions: {}\n", text_of(output.tuned));
  for (const TunedConvolution& convolution : output.convolutions)
    if (!convolution.forms.front().is_chosen)
      print_message(stderr, "scopevm: {}: {}\n", convolution.name, text_of(convolution.forms));
  for (const std::string& warning : output.warnings)
    print_message(stderr, "scopevm: warning: {}\n", warning);
  const Stopwatch watch;
  if (!command.output.empty())
    SCOPEVM_RETURN_IF_ERROR(write_file(command.output, {&output.module, 1}));
  output.times.push_back(watch.stop("write"));
  if (command.json)
    print_json(output.times);
  else if (command.timing)
    print_text(output.times);
  return {};
}

// The bounds of a variant are combined with the bounds of --dim.
Status add_variants(const CompileCommand& command, CompileOptions& options) {
  for (const std::string& text : command.variants) {
    std::vector<std::string> strings = command.model.dims;
    strings.push_back(text);
    SCOPEVM_RETURN_IF_ERROR(add_dim_bounds(strings, options.variants.emplace_back(), "--variant"));
  }
  return {};
}

int compile(const CompileCommand& command) {
  CompileOptions options;
  if (!command.target_cpus.empty()) options.target_cpus = command.target_cpus;
  if (const Status status = add_dim_bounds(command.model.dims, options.dims); !status.ok())
    return report_usage(std::string(status.message()));
  if (const Status status = add_variants(command, options); !status.ok())
    return report_usage(std::string(status.message()));
  options.threads = command.threads;
  if (const Status status = read_model_options(command.model, options); !status.ok())
    return report(status);
  options.dump_after = command.dump_after;
  options.reproducer_path = command.reproducer;
  if (!command.dump_after.empty())
    // Unlike print(), std::fwrite() throws no exception, which must not cross the compiler
    // library. finish_output() reports the write error.
    options.dump = [](std::string_view text) { std::fwrite(text.data(), 1, text.size(), stdout); };
  if (command.output.empty() && command.dump_after.empty() && !command.timing)
    return report_usage("compile requires -o FILE, --dump-after STAGE or --timing");
  if (command.json && !command.timing) return report_usage("--json requires --timing");
  const int users = (command.output == kStandardStream ? 1 : 0) +
                    (command.dump_after.empty() ? 0 : 1) + (command.json ? 1 : 0);
  if (users > 1)
    return report_usage(
        "expected at most one of -o -, --dump-after and --json: each writes to stdout");
  return report(compile_to_file(command, std::move(options)));
}

const Command<CompileCommand> registered({.position = 10,
                                          .name = "compile",
                                          .description = "Compile a model to a module"},
                                         declare, compile);

}  // namespace

}  // namespace scopevm::tool
