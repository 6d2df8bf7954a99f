// The compiler's entry point: a model in, the bytes of module.bc out. Lives in libscopevm_compiler,
// which the `scopevm` command loads only for the commands that compile.
//
// Thread-safety: compile() may be called from several threads at once.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "scopevm/export.h"
#include "scopevm/status.h"

namespace scopevm {

// What is known of a named dimension, from `--dim`. A fixed dimension has min == max.
struct DimBound {
  int64_t min = 1;
  int64_t max = int64_t{1} << 31;
  int64_t multiple_of = 1;
};

struct CompileOptions {
  std::string model_path;  // .onnx or .mlir
  // CPU names as LLVM spells them ("x86-64-v3", "cascadelake"), or "host". One kernel image each.
  std::vector<std::string> target_cpus = {"host"};
  std::map<std::string, DimBound> dims;
  // A stage name ("frontend", "graph", "placement", "kernels", "shapes", "memory", "codegen",
  // "bytecode"): its result is written to `dump` as text.
  std::string dump_after;
  std::function<void(std::string_view)> dump;
  // Called from the compiling thread as stages begin: stage name, done, total (0, 0 when unknown).
  std::function<void(std::string_view stage, int64_t done, int64_t total)> progress;
  int threads = 0;  // kernels compiled at once; 0: one per core
};

struct StageTime {
  std::string stage;
  double seconds = 0;
};

struct CompileOutput {
  std::vector<uint8_t> module;   // the bytes of module.bc
  std::vector<StageTime> times;  // in pipeline order
  std::vector<std::string> warnings;
};

// Errors: kNotFound (no such file), kInvalidModel ("model.onnx: node \"conv_3\": ..."),
// kUnsupported (names the op, the opset and the node).
SCOPEVM_API Result<CompileOutput> compile(const CompileOptions& options);

}  // namespace scopevm
