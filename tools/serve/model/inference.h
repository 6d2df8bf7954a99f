// Runs one request of a model on the workers of its scheduler.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "scopevm/call.h"
#include "scopevm/status.h"
#include "tools/serve/model/loaded_model.h"
#include "tools/serve/protocol/infer.h"

namespace scopevm::serve {

// Receives the result, once, on a worker or on the thread that starts the request. The memory of
// the outputs counts as held until it returns.
//   - kInvalidArgument: a wrong request, or one that needs more memory than the server has
//   - kResourceLimit: the model has too many requests, or no memory for another sequence
//   - kCancelled, kDeadlineExceeded, kOutOfMemory, and the other errors of Call::run()
using InferDone = std::function<void(Result<InferResponse> response)>;

// A request in flight.
class Inference : public std::enable_shared_from_this<Inference> {
 public:
  // Parameters of the request: `timeout` (microseconds), `priority`, `sequence_id`,
  // `sequence_start` and `sequence_end`. `request_id` identifies it in traces and the log; 0: none.
  static std::shared_ptr<Inference> start(std::shared_ptr<LoadedModel> model, InferRequest request,
                                          uint64_t request_id, InferDone done);

  // Ends the request with kCancelled, unless it has ended. Thread-safe.
  void cancel();

  Inference(const Inference&) = delete;
  Inference& operator=(const Inference&) = delete;
  ~Inference() = default;

 private:
  Inference(std::shared_ptr<LoadedModel> model, InferRequest request, InferDone done);

  Status prepare(uint64_t request_id);
  Status set_inputs();
  Status start_sequence();
  Status enter_sequence();
  bool run_in(const std::shared_ptr<Sequence>& sequence);
  Status submit();
  void record(bool is_success) const;
  void finish(Status status);
  Result<InferResponse> response() const;
  bool is_state_output(const std::string& name) const;

  const std::shared_ptr<LoadedModel> model_;
  const std::chrono::steady_clock::time_point started_ = std::chrono::steady_clock::now();
  InferRequest request_;
  InferDone done_;
  std::optional<Call> call_;
  SubmitOptions options_;
  std::optional<std::string> sequence_id_;
  bool is_sequence_start_ = false;
  bool is_sequence_end_ = false;
  std::shared_ptr<Sequence> sequence_;
  std::mutex mutex_;  // of the two members below
  bool is_cancelled_ = false;
  bool is_submitted_ = false;
};

}  // namespace scopevm::serve
