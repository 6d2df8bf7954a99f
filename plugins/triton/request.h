// One request of Triton: its inputs as tensors, its outputs and states, its response. The request
// is answered, reported and released once, by finish().
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "plugins/triton/api.h"
#include "plugins/triton/model.h"
#include "scopevm/call.h"
#include "scopevm/tensor.h"

namespace scopevm::triton {

using Time = std::chrono::steady_clock::time_point;

// The times of Triton's statistics.
struct Times {
  Time start;  // of the execution of all requests
  Time compute_start;
  Time compute_end;
};

class Request {
 public:
  explicit Request(TRITONBACKEND_Request* handle) : handle_(handle) {}

  // Reads the properties. A failure is also stored as the status of the request.
  void read(const Model& model, Time start) noexcept;

  TRITONBACKEND_Request* handle() const { return handle_; }
  std::span<const InputView> inputs() const { return inputs_; }
  int64_t batch() const { return batch_; }
  std::optional<Time> deadline() const { return deadline_; }
  const Status& status() const { return status_; }
  void fail(Status status) {
    if (status_.ok()) status_ = std::move(status);
  }
  Times& times() { return times_; }
  // Fails if the client has cancelled the request or its deadline has passed.
  void check_end() noexcept;

  // True if the inputs have the same types and the same dims after the first one.
  bool can_join(const Request& other) const;

  // Creates the outputs whose shapes follow from `dims`, and sets their buffers in the call.
  Status set_outputs(const Model& model, std::span<const int64_t> dims, Call& call);
  // Writes the rows [row, row + batch()) of the results, which have `rows` rows: the requested
  // outputs that the call has not written, and the states. All of a result if `rows` is 0.
  Status write_results(const Model& model, const Call& call, int64_t row, int64_t rows);

  // Sends the response or the error, reports the statistics and releases the request. A second call
  // has no effect.
  void finish(TRITONBACKEND_ModelInstance* instance) noexcept;

 private:
  struct Output {
    bool is_requested = false;
    void* data = nullptr;     // the buffer in the response
    bool is_written = false;  // by the call
  };
  Status read_properties(const Model& model, Time start);
  Status make_response();
  Result<void*> make_output(const TensorSignature& tensor, std::span<const int64_t> dims,
                            uint64_t bytes);
  Status write_state(const TensorSignature& tensor, std::span<const int64_t> dims,
                     std::string_view bytes);

  TRITONBACKEND_Request* handle_;
  TRITONBACKEND_Response* response_ = nullptr;
  std::vector<InputView> inputs_;
  std::vector<Output> outputs_;  // one for each output of the signature
  int64_t batch_ = 1;
  std::optional<Time> deadline_;
  Status status_;
  bool is_finished_ = false;
  Times times_;
};

// The tensor of input `index` of requests that can be joined. A single request with one buffer of
// host memory is borrowed. Errors: kInvalidArgument (the bytes do not have the size of the shape,
// or are not strings), kUnsupported (memory of a GPU), kOutOfMemory.
Result<Tensor> input_of(std::span<Request* const> requests, size_t index,
                        const TensorSignature& tensor);

}  // namespace scopevm::triton
