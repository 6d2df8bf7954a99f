// scopevm compile: compiles a model into a module file. On request, prints the result of a stage
// and the times of all stages.
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <nlohmann/json.hpp>

#include "tools/command_line/command.h"
#include "tools/command_line/exit_code.h"
#include "tools/command_line/parser.h"
#include "tools/compile/options/model_input.h"
#include "tools/compile/options/model_options.h"
#include "tools/compile/program.h"
#include "tools/compile/tuning/tuning.h"
#include "tools/files/file.h"
#include "tools/files/json_output.h"
#include "tools/files/standard_streams.h"
#include "tools/files/weights_file.h"
#include "vm/format/binary/reader.h"

namespace scopevm::tool {
namespace {

struct CompileCommand {
  ModelOptions model;
  std::string output;
  std::string weights;
  bool timing = false;
  bool json = false;
};

void declare(CLI::App& command, CompileCommand& options) {
  add_model(command, options.model);
  command.add_option("-o,--output", options.output, "Output module file");
  command.add_option("--weights", options.weights, kWeightsHelp)->type_name("FILE");
  add_named(command, options.model, /*is_explain=*/false);
  add_external(command, options.model,
               "NAME or PATH of a plug-in: parts of the model that its library accepts become "
               "external functions");
  command.add_flag("--timing", options.timing,
                   "Print time, share and peak memory of each stage, and the time of its "
                   "passes, to stderr");
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

// A row of --timing for a step outside of the compiler that ends now.
StageTime timed_step(const std::string& name, double seconds) {
  rusage use{};
  getrusage(RUSAGE_SELF, &use);
  return {name, seconds, int64_t{use.ru_maxrss} * 1024};
}

// The start of the programs and the loading of their libraries, as CPU time: their wall clock is
// not known here.
StageTime loading_time() {
  timespec used{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return timed_step("load",
                    static_cast<double>(used.tv_sec) + 1e-9 * static_cast<double>(used.tv_nsec));
}

Result<CompileOutput> compile_with_progress(CompileOptions options) {
  ProgressLine line;
  if (isatty(STDERR_FILENO) != 0)
    options.progress = [&line](std::string_view stage, int64_t done, int64_t total) {
      line.show(stage, done, total);
    };
  return scopevm::compile(options);
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

void print_json(const CompileCommand& command, const CompileOutput& output) {
  const std::vector<StageTime>& times = output.times;
  nlohmann::ordered_json out{{"seconds", total_seconds(times)},
                             {"peak_bytes", times.back().peak_bytes},
                             {"stages", nlohmann::ordered_json::array()}};
  if (!command.model.value("cache").empty()) out["is_cached"] = output.is_cached;
  for (const StageTime& time : times) {
    nlohmann::ordered_json& stage = out["stages"].emplace_back();
    stage = {{"stage", time.stage}, {"seconds", time.seconds}, {"peak_bytes", time.peak_bytes}};
    for (const PassTime& pass : time.passes)
      stage["passes"].push_back({{"pass", pass.pass}, {"seconds", pass.seconds}});
  }
  write_json(out);
}

Status write_files(const CompileCommand& command, std::span<const uint8_t> module) {
  if (command.weights.empty()) return write_file(command.output, {&module, 1});
  // read_module() requires an alignment that the compiler's output lacks.
  SCOPEVM_ASSIGN_OR_RETURN(const format::ModuleContents contents,
                           format::read_module(format::aligned_copy(module.data(), module.size())));
  return write_with_weights(command.output, command.weights, contents);
}

Status write_module(const CompileCommand& command, CompileOutput& output) {
  const auto began = std::chrono::steady_clock::now();
  if (!command.output.empty()) SCOPEVM_RETURN_IF_ERROR(write_files(command, output.module));
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - began;
  output.times.push_back(timed_step("write", elapsed.count()));
  return {};
}

// A module is often compiled on the machine that runs it, but not always. Scripts do not read
// notes.
void note_target(const CompileCommand& command, const CompileOptions& options) {
  if (!options.target_cpus.empty() || !options.machine_json.empty()) return;
  if (isatty(STDERR_FILENO) != 0 || (command.timing && !command.json))
    print_message(stderr,
                  "scopevm: note: the target is this host's CPU; --target-cpu CPU selects another, "
                  "such as x86-64-v3\n");
}

// Reports the use of the cache; under the conditions of note_target().
void note_cache(const CompileCommand& command, const CompileOutput& output) {
  if (command.model.value("cache").empty()) return;
  if (isatty(STDERR_FILENO) != 0 || (command.timing && !command.json))
    print_message(stderr, "scopevm: note: the module is {} the cache\n",
                  output.is_cached ? "from" : "new in");
}

Status compile_to_file(const CompileCommand& command, CompileOptions options) {
  const StageTime loading = loading_time();
  SCOPEVM_RETURN_IF_ERROR(
      check_is_no_input(command.output, {options.model_path, command.model.value("machine"),
                                         command.model.value("external-functions")}));
  SCOPEVM_RETURN_IF_ERROR(check_is_writable(command.output));
  SCOPEVM_RETURN_IF_ERROR(
      check_is_no_input(command.weights, {options.model_path, command.model.value("machine"),
                                          command.model.value("external-functions")}));
  SCOPEVM_RETURN_IF_ERROR(check_weights_path(command.weights, command.output));
  SCOPEVM_RETURN_IF_ERROR(check_is_writable(options.reproducer_path));
  note_target(command, options);
  SCOPEVM_ASSIGN_OR_RETURN(const ModelInput model, ModelInput::open(options.model_path));
  options.model_path = model.path();
  SCOPEVM_ASSIGN_OR_RETURN(const std::shared_ptr<TuningCache> cache,
                           set_tuning(command.model.tune, options));
  Result<CompileOutput> compiled = compile_with_progress(std::move(options));
  // Also if the compilation fails later: measurements take long.
  if (cache) SCOPEVM_RETURN_IF_ERROR(cache->save());
  if (!compiled.ok()) return model.named(std::move(compiled).status());
  CompileOutput output = *std::move(compiled);
  output.times.insert(output.times.begin(), loading);
  if (!output.tuned.empty())
    print_message(stderr, "scopevm: external functions: {}\n", text_of(output.tuned));
  for (const TunedConvolution& convolution : output.convolutions)
    if (!convolution.forms.front().is_chosen)
      print_message(stderr, "scopevm: {}: {}\n", convolution.name, text_of(convolution.forms));
  for (const std::string& warning : output.warnings)
    print_message(stderr, "scopevm: warning: {}\n", warning);
  note_cache(command, output);
  SCOPEVM_RETURN_IF_ERROR(write_module(command, output));
  if (command.json)
    print_json(command, output);
  else if (command.timing)
    print_text(output.times);
  return {};
}

// The message about options that conflict; empty if there is none.
std::string conflict(const CompileCommand& command, const CompileOptions& options) {
  const bool dumps = !options.dump_after.empty();
  if (command.output.empty() && !dumps && !command.timing)
    return "compile requires -o FILE, --dump-after STAGE or --timing";
  if (!command.weights.empty() && command.output.empty()) return "--weights requires -o FILE";
  if (command.json && !command.timing) return "--json requires --timing";
  if ((command.output == kStandardStream) + dumps + command.json > 1)
    return "expected at most one of -o -, --dump-after and --json: each writes to stdout";
  if (!options.cache_folder.empty() && (dumps || command.model.tune.is_enabled))
    return "--cache excludes --dump-after and --tune";
  return "";
}

int compile(const CompileCommand& command) {
  Result<OptionSetter> parsed = parse_model_options(command.model);
  if (!parsed.ok()) return report_usage(std::string(parsed.status().message()));
  CompileOptions& options = parsed->compile;
  if (const Status status = read_model_options(command.model, *parsed); !status.ok())
    return report(status);
  if (const std::string message = conflict(command, options); !message.empty())
    return report_usage(message);
  if (!options.dump_after.empty())
    // Unlike print(), std::fwrite() throws no exception, which must not cross the compiler
    // library. finish_output() reports the write error.
    options.dump = [](std::string_view text) { std::fwrite(text.data(), 1, text.size(), stdout); };
  return report(compile_to_file(command, std::move(options)));
}

const Command<CompileCommand> compile_command(kCompile, declare, compile);

}  // namespace
}  // namespace scopevm::tool
