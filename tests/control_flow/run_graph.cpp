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

template <typename T>
Tensor tensor_of(DType dtype, const std::vector<int64_t>& dims, const std::vector<T>& elements) {
  Tensor tensor = *Tensor::allocate(dtype, dims);
  std::copy(elements.begin(), elements.end(), static_cast<T*>(tensor.data()));
  return tensor;
}

}  // namespace

Graph::Graph(const std::string& text) {
  CompileOptions options;
  options.model_path = write_temporary(text);
  Result<CompileOutput> output = compile(options);
  unlink(options.model_path.c_str());
  if (!output.is_ok()) {
    ADD_FAILURE() << output.status().message();
    return;
  }
  Result<Module> module = Module::load_bytes(output->module);
  if (!module.is_ok()) {
    ADD_FAILURE() << module.status().message();
    return;
  }
  Result<Session> session = Session::create(*module);
  if (!session.is_ok()) {
    ADD_FAILURE() << session.status().message();
    return;
  }
  call_.emplace(session->make_call());
}

Status Graph::status_of(const std::vector<Tensor>& inputs, const CallOptions& options) {
  if (!call_) return Status(StatusCode::kInternal, "the graph does not compile");
  for (size_t i = 0; i < inputs.size(); ++i) {
    Status status = call_->set_input(i, inputs[i]);
    if (!status.is_ok()) return status;
  }
  return call_->run(options);
}

std::vector<Tensor> Graph::run(const std::vector<Tensor>& inputs) {
  Status status = status_of(inputs);
  if (status.is_ok()) return {call_->outputs().begin(), call_->outputs().end()};
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
Tensor boolean(bool value) { return tensor_of<uint8_t>(DType::kBool, {}, {value}); }

std::vector<float> elements(const Tensor& tensor) {
  const auto* data = static_cast<const float*>(tensor.data());
  return {data, data + tensor.element_count()};
}
std::vector<int64_t> dims(const Tensor& tensor) {
  return {tensor.dims().begin(), tensor.dims().end()};
}

}  // namespace scopevm
