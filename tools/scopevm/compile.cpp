// scopevm compile: a model to a module file.
#include <fmt/format.h>
#include <unistd.h>

#include "tools/scopevm/arguments.h"
#include "tools/scopevm/commands.h"
#include "tools/scopevm/compiler_library.h"
#include "tools/scopevm/exit_code.h"
#include "tools/scopevm/file.h"

namespace scopevm::tool {
namespace {

// Progress on a terminal: one line that is written over.
class ProgressLine {
 public:
  void show(std::string_view stage, int64_t done, int64_t total) {
    fmt::print(stderr, "\r\033[K{}", stage);
    if (total > 0) fmt::print(stderr, " {}/{}", done, total);
    std::fflush(stderr);
    is_shown_ = true;
  }
  ~ProgressLine() {
    if (is_shown_) fmt::print(stderr, "\r\033[K");
  }

 private:
  bool is_shown_ = false;
};

Result<CompileOutput> run_compiler(const CompileOptions& base) {
  SCOPEVM_ASSIGN_OR_RETURN(const CompilerLibrary compiler, load_compiler());
  CompileOptions options = base;
  ProgressLine line;
  if (isatty(STDERR_FILENO) != 0)
    options.progress = [&line](std::string_view stage, int64_t done, int64_t total) {
      line.show(stage, done, total);
    };
  return compiler.compile(options);
}

Status compile_to_file(const CompileCommand& command, const CompileOptions& options) {
  SCOPEVM_ASSIGN_OR_RETURN(const CompileOutput output, run_compiler(options));
  for (const std::string& warning : output.warnings)
    fmt::print(stderr, "scopevm: warning: {}\n", warning);
  if (command.timing) {
    double total = 0;
    for (const StageTime& time : output.times) {
      fmt::print(stderr, "{:<12} {:8.3f} s\n", time.stage, time.seconds);
      total += time.seconds;
    }
    fmt::print(stderr, "{:<12} {:8.3f} s\n", "total", total);
  }
  return command.output.empty() ? Status() : write_file(command.output, output.module);
}

}  // namespace

int compile(const CompileCommand& command) {
  CompileOptions options;
  options.model_path = command.model;
  if (!command.target_cpus.empty()) options.target_cpus = command.target_cpus;
  if (const Status status = add_dim_bounds(command.dims, options.dims); !status.is_ok())
    return report_usage(std::string(status.message()));
  options.threads = command.threads;
  options.dump_after = command.dump_after;
  if (!command.dump_after.empty())
    options.dump = [](std::string_view text) { fmt::print("{}", text); };
  if (command.output.empty() && command.dump_after.empty())
    return report_usage("compile needs -o FILE, or --dump-after STAGE");
  return report(compile_to_file(command, options));
}

}  // namespace scopevm::tool
