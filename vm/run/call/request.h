// Request: what a call has while it does not run: inputs, buffers, results and statistics. It is a few
// hundred bytes, so that many requests can wait.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/memory/storage.h"
#include "scopevm/session.h"
#include "scopevm/tensor.h"

namespace scopevm::vm {

class BoundSession;

// An input or result that is a sequence or an optional.
struct ListValue {
  bool is_set = false;
  bool has_value = false;        // false for an optional without a value
  std::vector<Tensor> elements;  // for an optional tensor with a value, one element
};

// The caller's buffer for an output.
struct OutputBuffer {
  Tensor tensor;  // empty without a buffer
  // The dims of `tensor` are those of the result. Otherwise `tensor` is a list of elements, in whose
  // bytes a result of any dims is stored.
  bool has_dims = true;
};

class Request {
 public:
  explicit Request(std::shared_ptr<BoundSession> of);
  ~Request();
  Request(const Request&) = delete;
  Request& operator=(const Request&) = delete;

  const std::shared_ptr<BoundSession> session;

  std::vector<Tensor> inputs;  // an empty tensor is an unset input
  // The values of the signature's dimensions, set by bind_inputs().
  std::vector<int64_t> dimensions;
  std::vector<OutputBuffer> outputs;
  // By output index: a storage that wraps the caller's buffer, so that registers can reference it.
  // Null if there is no buffer.
  std::vector<runtime::Storage*> output_storages;
  std::vector<Tensor> results;  // an empty tensor for a result that is not a tensor
  // By input index or output index. The entry of an input or output that is a tensor is not set.
  std::vector<ListValue> list_inputs;
  std::vector<ListValue> list_results;
  CallStats stats;  // of the last run

  void set_output(size_t index, OutputBuffer buffer);
  void clear_results();
};

}  // namespace scopevm::vm
