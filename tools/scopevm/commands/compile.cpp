// scopevm compile: compiles a model into a module file. On request, prints the result of a stage
// and the times of all stages.
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <nlohmann/json.hpp>

#include "tools/scopevm/arguments.h"
#include "tools/scopevm/commands.h"
#include "tools/scopevm/commands/external_options.h"
#include "tools/scopevm/commands/json_output.h"
#include "tools/scopevm/commands/places.h"
#include "tools/scopevm/compiler_library.h"
#include "tools/scopevm/exit_code.h"
#include "tools/scopevm/file.h"
#include "tools/scopevm/model_input.h"
#include "tools/scopevm/standard_streams.h"
#include "tools/scopevm/tuning/tuning.h"

namespace scopevm::tool {
namespace {

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
      command.output, {command.model, command.machine, command.external_functions}));
  SCOPEVM_RETURN_IF_ERROR(check_is_writable(command.output));
  SCOPEVM_RETURN_IF_ERROR(check_is_writable(command.reproducer));
  SCOPEVM_ASSIGN_OR_RETURN(const ModelInput model, ModelInput::open(command.model));
  options.model_path = model.path();
  SCOPEVM_ASSIGN_OR_RETURN(const std::shared_ptr<TuningCache> cache,
                           set_tuning(command.tune, options));
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
    std::vector<std::string> strings = command.dims;
    strings.push_back(text);
    SCOPEVM_RETURN_IF_ERROR(add_dim_bounds(strings, options.variants.emplace_back(), "--variant"));
  }
  return {};
}

}  // namespace

int compile(const CompileCommand& command) {
  CompileOptions options;
  if (!command.target_cpus.empty()) options.target_cpus = command.target_cpus;
  if (const Status status = add_dim_bounds(command.dims, options.dims); !status.ok())
    return report_usage(std::string(status.message()));
  if (const Status status = add_variants(command, options); !status.ok())
    return report_usage(std::string(status.message()));
  options.threads = command.threads;
  options.allow_unmatched = command.allow_unmatched;
  options.inline_limit = command.inline_limit;
  options.image_layout = command.image_layout;
  options.fast_conv = command.fast_conv;
  if (const Status status = read_places(command.machine, command.places, options); !status.ok())
    return report(status);
  if (const Status status =
          read_external(command.external_libraries, command.external_functions, options);
      !status.ok())
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

}  // namespace scopevm::tool
