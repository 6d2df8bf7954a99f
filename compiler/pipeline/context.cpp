// Measures stages and dumps their results.
#include "compiler/pipeline/context.h"

#include <sys/resource.h>

#include <algorithm>

#include "compiler/passes/context.h"
#include "compiler/support/leaked_on_exception.h"
#include "compiler/support/stop.h"

namespace scopevm::compiler::pipeline {

Context::Context(const CompileOptions& options, const codegen::Backends& backends)
    : options(options),
      backends(backends),
      mlir(LeakablePtr<mlir::MLIRContext>(make_context().release())) {}

Context::Context(const CompileOptions& options, const Context& other)
    : options(options), backends(other.backends), mlir(other.mlir) {}

Status Context::begin(std::string_view stage) {
  end();
  stage_ = stage;
  began_ = std::chrono::steady_clock::now();
  if (options.progress) options.progress(stage, 0, 0);
  return check_not_stopped(options.stop_token);
}

// Adds the time of the current stage to its entry. A stage that runs several times has one entry.
void Context::end() {
  if (stage_.empty()) return;
  std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - began_;
  rusage use{};
  getrusage(RUSAGE_SELF, &use);
  auto found = std::ranges::find(times_, stage_, &StageTime::stage);
  if (found == times_.end()) found = times_.insert(found, {stage_});
  found->seconds += elapsed.count();
  // Linux reports kilobytes.
  found->peak_bytes = int64_t{use.ru_maxrss} * 1024;
  std::ranges::move(pass_times_, std::back_inserter(found->passes));
  pass_times_.clear();
  stage_.clear();
}

void Context::add_pass_time(std::string_view pass, double seconds) {
  auto known = std::ranges::find(pass_times_, pass, &PassTime::pass);
  if (known == pass_times_.end()) known = pass_times_.insert(known, {std::string(pass)});
  known->seconds += seconds;
}

std::vector<StageTime> Context::take_times() {
  end();
  std::ranges::sort(times_, {}, [](const StageTime& time) {
    return std::ranges::find(kStages, time.stage) - std::begin(kStages);
  });
  return std::move(times_);
}

void Context::dump(std::string_view stage, const std::string& text) {
  if (!wants(stage)) return;
  if (held_ != nullptr)
    *held_ += text;
  else
    options.dump(text);
}

void Context::dump(std::string_view stage, mlir::ModuleOp module) {
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

}  // namespace scopevm::compiler::pipeline
