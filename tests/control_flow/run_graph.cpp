// Implements run_graph.h.
#include "tests/control_flow/run_graph.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

namespace scopevm {
namespace {

std::string write_temporary(const std::string& text) {
  static int count = 0;
  std::string path = testing::TempDir() + "graph_" + std::to_string(getpid()) + "_" +
                     std::to_string(count++) + ".mlir";
  std::ofstream(path) << text;
  return path;
}

Result<CompileOutput> compile_path(const std::string& path) {
  CompileOptions options;
  options.model_path = path;
  return compile(options);
}

Result<CompileOutput> compile_text(const std::string& text) {
  const std::string path = write_temporary(text);
  Result<CompileOutput> output = compile_path(path);
  unlink(path.c_str());
  return output;
}

template <typename T>
Tensor tensor_of(DType dtype, const std::vector<int64_t>& dims, const std::vector<T>& elements) {
  Tensor tensor = *Tensor::allocate(dtype, dims);
  std::copy(elements.begin(), elements.end(), static_cast<T*>(tensor.data()));
  return tensor;
}

}  // namespace

Graph::Graph(const std::string& text) { load(compile_text(text)); }

Graph Graph::of_file(const std::string& path) {
  Graph graph;
  graph.load(compile_path(path));
  return graph;
}

void Graph::load(const Result<CompileOutput>& output) {
  if (!output.ok()) {
    ADD_FAILURE() << output.status().message();
    return;
  }
  Result<Module> module = Module::load_bytes(output->module);
  if (!module.ok()) {
    ADD_FAILURE() << module.status().message();
    return;
  }
  Result<Session> session = Session::create(*module);
  if (!session.ok()) {
    ADD_FAILURE() << session.status().message();
    return;
  }
  call_.emplace(*session->make_call());
}

Status Graph::compile_error(const std::string& text) { return compile_text(text).status(); }

Status Graph::status_of(const std::vector<Tensor>& inputs, const CallOptions& options) {
  if (!call_) return Status(StatusCode::kInternal, "the graph does not compile");
  for (size_t i = 0; i < inputs.size(); ++i) {
    Status status = call_->set_input(i, inputs[i]);
    if (!status.ok()) return status;
  }
  return call_->run(options);
}

std::vector<Tensor> Graph::run(const std::vector<Tensor>& inputs) {
  Status status = status_of(inputs);
  if (status.ok()) return {call_->outputs().begin(), call_->outputs().end()};
  ADD_FAILURE() << status.message();
  return {};
}

int64_t Graph::allocations(const std::string& scope) const {
  for (const ScopeUse& use : call_->stats().memory)
    if (use.scope == scope) return use.allocations;
  return 0;
}

Tensor floats(const std::vector<int64_t>& dims, const std::vector<float>& elements) {
  return tensor_of(DType::kF32, dims, elements);
}
Tensor floats(const std::vector<float>& elements) {
  return floats({static_cast<int64_t>(elements.size())}, elements);
}
Tensor integer(int64_t value) { return tensor_of<int64_t>(DType::kI64, {}, {value}); }
Tensor integers(const std::vector<int64_t>& dims, const std::vector<int64_t>& elements) {
  return tensor_of(DType::kI64, dims, elements);
}
Tensor integers(const std::vector<int64_t>& elements) {
  return integers({static_cast<int64_t>(elements.size())}, elements);
}
Tensor booleans(const std::vector<bool>& elements) {
  return tensor_of(DType::kBool, {static_cast<int64_t>(elements.size())},
                   std::vector<uint8_t>(elements.begin(), elements.end()));
}
Tensor boolean(bool value) { return tensor_of<uint8_t>(DType::kBool, {}, {value}); }

std::vector<float> elements(const Tensor& tensor) {
  const auto* data = static_cast<const float*>(tensor.data());
  return {data, data + tensor.element_count()};
}
std::vector<int64_t> integers_of(const Tensor& tensor) {
  const auto* data = static_cast<const int64_t*>(tensor.data());
  return {data, data + tensor.element_count()};
}
std::vector<int64_t> dims(const Tensor& tensor) {
  return {tensor.dims().begin(), tensor.dims().end()};
}

}  // namespace scopevm
