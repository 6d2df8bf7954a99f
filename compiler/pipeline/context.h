// Context: what the stages of one compilation share. It reports progress, times and dumps.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/codegen/backends.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "scopevm/compiler.h"

namespace scopevm::compiler::pipeline {

class Context {
 public:
  // `options` and `backends` must outlive the object. An exception leaks the MLIR context.
  explicit Context(const CompileOptions& options,
                   const codegen::Backends& backends = codegen::built_in_backends());
  // Shares the MLIR context and the back ends of `other`.
  Context(const CompileOptions& options, const Context& other);

  const CompileOptions& options;
  const codegen::Backends& backends;
  const std::shared_ptr<mlir::MLIRContext> mlir;

  // Ends the current stage and starts to measure `stage`. Errors: kCancelled.
  Status begin(std::string_view stage);
  void end();
  // The current stage, or the stage that failed. Empty before the first one.
  std::string_view stage() const { return stage_; }
  // Adds to the time of a pass of the current stage.
  void add_pass_time(std::string_view pass, double seconds);
  // Ends the current stage. Returns one entry per stage, in pipeline order.
  std::vector<StageTime> take_times();

  // Whether the options require a dump of the stage or pass.
  bool wants(std::string_view stage) const { return options.dump && options.dump_after == stage; }
  // Dump the result of a stage or pass if the options require it.
  void dump(std::string_view stage, const std::string& text);
  void dump(std::string_view stage, mlir::ModuleOp module);
  // Appends dumps to `text` from now on. Null: passes them to CompileOptions::dump.
  void hold_dumps(std::string* text) { held_ = text; }

 private:
  std::string stage_;
  std::chrono::steady_clock::time_point began_;
  std::vector<PassTime> pass_times_;  // of the current stage
  std::vector<StageTime> times_;
  std::string* held_ = nullptr;
};

}  // namespace scopevm::compiler::pipeline
