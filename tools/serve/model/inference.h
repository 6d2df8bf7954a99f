// Runs one request of a model on the workers of its scheduler.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "scopevm/call.h"
#include "scopevm/state.h"
#include "scopevm/status.h"
#include "tools/serve/model/generation.h"
#include "tools/serve/model/loaded_model.h"
#include "tools/serve/protocol/infer.h"

namespace scopevm::serve {

// Receives the result, once, on a worker or on the thread that starts the request. The memory of
// the outputs counts as held until it returns.
//   - kInvalidArgument: a wrong request, or one that needs more memory than the server has
//   - kResourceLimit: the model has too many requests, or no memory for another sequence
//   - kCancelled, kDeadlineExceeded, kOutOfMemory, and the other errors of Call::run()
using InferDone = std::function<void(Result<InferResponse> response)>;

// Receives the response of a step that is not the last one, and releases its outputs before it
// calls `resume`, once and on any thread, for the next step. An error ends the generation instead.
using StepDone = std::function<Status(InferResponse response, std::function<void()> resume)>;

// A request in flight.
class Inference : public std::enable_shared_from_this<Inference> {
 public:
  // Parameters of the request: `timeout` (microseconds), `priority`, `sequence_id`,
  // `sequence_start` and `sequence_end`. `request_id` identifies it in traces and the log; 0: none.
  static std::shared_ptr<Inference> start(std::shared_ptr<LoadedModel> model, InferRequest request,
                                          uint64_t request_id, InferDone done);

  // Runs the steps of a generation. `done` receives the last response, or the error. Parameters of
  // the request are those of start(), whose `timeout` is that of all steps, and `steps`.
  static std::shared_ptr<Inference> generate(std::shared_ptr<LoadedModel> model,
                                             InferRequest request, uint64_t request_id,
                                             StepDone step, InferDone done);

  // Ends the request with kCancelled, unless it has ended. Thread-safe.
  void cancel();

  // For Batcher. The inputs in the order of the signature, and their number of rows.
  const std::vector<Tensor>& batch_inputs() const { return batch_inputs_; }
  int64_t batch_rows() const { return batch_rows_; }
  int64_t compute_ns() const { return compute_ns_; }  // of the run, after its end
  const SubmitOptions& options() const { return options_; }
  // Ends a request that was cancelled or has passed its deadline, and returns true.
  bool end_if_stopped();
  // Runs the request by itself, and calls `ended` at its end. False: it has failed.
  bool run_alone(std::function<void()> ended);
  // Sets what is called if the request is cancelled while it runs with others.
  void set_left(std::function<void()> left);
  void finish_in_batch(Status status, std::vector<Tensor> outputs, int64_t compute_ns);

  Inference(const Inference&) = delete;
  Inference& operator=(const Inference&) = delete;
  ~Inference() = default;

 private:
  Inference(std::shared_ptr<LoadedModel> model, InferRequest request, StepDone step,
            InferDone done);

  static std::shared_ptr<Inference> start(std::shared_ptr<LoadedModel> model, InferRequest request,
                                          uint64_t request_id, StepDone step, InferDone done);
  Status prepare(uint64_t request_id);
  Status set_inputs();
  Status start_sequence();
  Status start_generation();
  Status enter_sequence();
  bool run_in(const std::shared_ptr<Sequence>& sequence);
  bool has_rows();
  Status run();
  Status submit(std::function<void()> ended);
  void step_ended(const Status& end);
  void resume();
  bool end_wait();
  std::span<const Tensor> outputs() const;
  void record(bool is_success) const;
  void finish(Status status);
  Result<InferResponse> response() const;
  bool is_state_output(const std::string& name) const;
  bool has_state() const { return sequence_id_ || own_state_; }

  const std::shared_ptr<LoadedModel> model_;
  const std::chrono::steady_clock::time_point started_ = std::chrono::steady_clock::now();
  std::chrono::steady_clock::time_point run_started_ = started_;  // of the step
  InferRequest request_;
  StepDone step_;  // null: no generation
  InferDone done_;
  std::optional<Call> call_;
  SubmitOptions options_;
  std::optional<std::string> sequence_id_;
  bool is_sequence_start_ = false;
  bool is_sequence_end_ = false;
  std::shared_ptr<Sequence> sequence_;
  std::optional<Generation> generation_;
  std::optional<State> own_state_;  // of a generation without a sequence
  std::vector<Tensor> batch_inputs_;
  int64_t batch_rows_ = 0;
  std::vector<Tensor> batch_outputs_;
  bool is_in_batch_ = false;
  int64_t compute_ns_ = 0;
  std::mutex mutex_;  // of the members below
  std::function<void()> left_;
  bool is_cancelled_ = false;
  bool is_submitted_ = false;
  bool is_waiting_ = false;  // for resume()
};

}  // namespace scopevm::serve
