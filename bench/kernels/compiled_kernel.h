// Graph text with one op or group -> its kernel, bound to filled buffers and ready to be timed.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "scopevm/status.h"

namespace scopevm::compiler::bench {

class CompiledKernel {
 public:
  // Compiles @main of `text` for the host; it must lower to one launch.
  static Result<std::unique_ptr<CompiledKernel>> create(const std::string& text);
  ~CompiledKernel();

  // Makes buffers for these dims. `copies` of the constants are made; each run takes the next one,
  // so that constants larger than a cache can be made to come from memory.
  void bind(const std::map<std::string, int64_t>& dims, int copies = 1);
  // The whole launch on the calling thread.
  void run();

 private:
  CompiledKernel();
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace scopevm::compiler::bench
