// Compiles a graph in MLIR assembly, or a model file, with and without inlined calls. Runs both
// modules through the public API.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "scopevm/compiler.h"
#include "scopevm/session.h"

namespace scopevm {

// A graph that is compiled to two modules, with and without inlined calls, and a call of each.
class Graph {
 public:
  // Fails the test if `text` does not compile.
  explicit Graph(const std::string& text);
  // The status of the compilation of `text`.
  static Status compile_error(const std::string& text);
  // Compiles the model file `path`. Fails the test if it does not compile.
  static Graph of_file(const std::string& path);

  // Returns the results. If the call fails, fails the test and returns no tensors. Expects the
  // module without inlined calls to compute the same bytes.
  std::vector<Tensor> run(const std::vector<Tensor>& inputs);
  // Runs the module with inlined calls and returns the status of the call.
  Status status_of(const std::vector<Tensor>& inputs, const CallOptions& options = {});
  // The call of the module with inlined calls. REQUIRES: the graph compiled.
  Call& call() { return *call_; }
  // Number of allocations in one scope during the last run.
  int64_t allocations(const std::string& scope) const;
  // Statistics of the last run.
  const CallStats& stats() const { return call_->stats(); }

 private:
  Graph() = default;
  void load(const std::string& path);
  void run_without_inlining(const std::vector<Tensor>& inputs);

  std::optional<Call> call_;
  std::optional<Call> call_without_inlining_;
};

Tensor floats(const std::vector<int64_t>& dims, const std::vector<float>& elements);
Tensor floats(const std::vector<float>& elements);
Tensor integer(int64_t value);
Tensor integers(const std::vector<int64_t>& dims, const std::vector<int64_t>& elements);
Tensor integers(const std::vector<int64_t>& elements);
Tensor boolean(bool value);
Tensor booleans(const std::vector<bool>& elements);
std::vector<float> elements(const Tensor& tensor);
std::vector<int64_t> integers_of(const Tensor& tensor);
std::vector<int64_t> dims(const Tensor& tensor);

}  // namespace scopevm
