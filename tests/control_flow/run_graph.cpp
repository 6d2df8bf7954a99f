// Implements run_graph.h.
#include "tests/control_flow/run_graph.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include "tests/temporary_file.h"

namespace scopevm {
namespace {

Result<Call> compiled(const std::string& path, int64_t inline_limit) {
  CompileOptions options;
  options.model_path = path;
  options.inline_limit = inline_limit;
  SCOPEVM_ASSIGN_OR_RETURN(const CompileOutput output, compile(options));
  SCOPEVM_ASSIGN_OR_RETURN(const Module module, Module::load_bytes(output.module));
  SCOPEVM_ASSIGN_OR_RETURN(const Session session, Session::create(module));
  return session.make_call();
}

template <typename T>
Tensor tensor_of(DType dtype, const std::vector<int64_t>& dims, const std::vector<T>& elements) {
  Tensor tensor = *Tensor::allocate(dtype, dims);
  std::copy(elements.begin(), elements.end(), static_cast<T*>(tensor.data()));
  return tensor;
}

}  // namespace

Graph::Graph(const std::string& text) { load(TemporaryFile(text).path()); }

Graph Graph::of_file(const std::string& path) {
  Graph graph;
  graph.load(path);
  return graph;
}

void Graph::load(const std::string& path) {
  Result<Call> call = compiled(path, CompileOptions().inline_limit);
  Result<Call> without_inlining = compiled(path, 0);
  if (!call.ok() || !without_inlining.ok()) {
    ADD_FAILURE() << call.status().message() << " " << without_inlining.status().message();
    return;
  }
  call_ = *std::move(call);
  call_without_inlining_ = *std::move(without_inlining);
}

Status Graph::compile_error(const std::string& text) {
  return compiled(TemporaryFile(text).path(), CompileOptions().inline_limit).status();
}

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
  if (!status.ok()) {
    ADD_FAILURE() << status.message();
    return {};
  }
  run_without_inlining(inputs);
  return {call_->outputs().begin(), call_->outputs().end()};
}

void Graph::run_without_inlining(const std::vector<Tensor>& inputs) {
  Call& call = *call_without_inlining_;
  for (size_t i = 0; i < inputs.size(); ++i) EXPECT_TRUE(call.set_input(i, inputs[i]).ok());
  const Status status = call.run();
  ASSERT_TRUE(status.ok()) << status.message();
  for (size_t i = 0; i < call.outputs().size(); ++i) {
    const Tensor &with = call_->outputs()[i], &without = call.outputs()[i];
    ASSERT_EQ(dims(with), dims(without));
    if (with.bytes() == 0) continue;  // also lists, which have no tensor
    EXPECT_EQ(std::memcmp(with.data(), without.data(), with.bytes()), 0) << "result " << i;
  }
  for (const ScopeUse& use : call.stats().memory)
    EXPECT_GE(use.bound_bytes, use.peak_bytes) << use.scope;
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
