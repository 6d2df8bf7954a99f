// CompiledKernel: a kernel for timing, compiled from MLIR assembly with one op or fusion group and
// bound to filled buffers.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "scopevm/status.h"

namespace scopevm::compiler::bench {

class CompiledKernel {
 public:
  // Compiles @main of `text` for the host. It must lower to exactly one launch.
  static Result<std::unique_ptr<CompiledKernel>> create(const std::string& text);
  ~CompiledKernel();

  // Allocates buffers for these dims, with `copies` copies of the constants. Symbols that are not
  // in `dims` are 1. Each run uses the next copy, so that the constants are not in a cache if all
  // copies together exceed it.
  void bind(const std::map<std::string, int64_t>& dims, int copies = 1);
  // Executes the whole launch on the calling thread.
  void run();

 private:
  CompiledKernel();
  struct State;
  std::unique_ptr<State> state_;
};

// As CompiledKernel::create(). Prints an error and ends the program if `text` is not valid.
std::unique_ptr<CompiledKernel> compile(const std::string& text);

}  // namespace scopevm::compiler::bench
