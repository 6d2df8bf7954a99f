// Request: what a call has while it does not run: inputs, buffers, results, statistics, and its
// place in the scheduler. It is a few hundred bytes, so that many requests can wait.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "runtime/memory/storage.h"
#include "scopevm/session.h"
#include "scopevm/tensor.h"
#include "vm/run/admission/call_scheduler.h"

namespace scopevm::vm {

class BoundSession;
class RankChannel;
class CallContext;
class CallState;

// An input or result that is a sequence or an optional.
struct ListValue {
  bool is_set = false;
  bool has_value = false;        // false for an optional without a value
  std::vector<Tensor> elements;  // for an optional tensor with a value, one element
};

// The caller's buffer for an output.
struct OutputBuffer {
  Tensor tensor;  // empty without a buffer
  // The dims of `tensor` are those of the result. Otherwise `tensor` is a list of elements, in
  // whose bytes a result of any dims is stored.
  bool has_dims = true;
  int64_t capacity = 0;  // in bytes, without dims
};

class Request final : public ScheduledRequest, public std::enable_shared_from_this<Request> {
 public:
  using Done = std::function<void(const Status&)>;

  explicit Request(std::shared_ptr<BoundSession> of);
  ~Request() override;

  const std::shared_ptr<BoundSession> session;

  // An empty tensor is an unset input. An input with a default has it until it is set.
  std::vector<Tensor> inputs;
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
  // A function of the program waits for the submission and returns its error, which is not logged.
  bool is_waited_for = false;
  // Of a request of rank 0 that runs on another rank: its inputs and results are not here.
  RankChannel* channel_of_rank_0 = nullptr;
  // Call::set_state(); null without a state.
  std::shared_ptr<CallState> state;

  // False also for an input that has its default.
  bool is_set(size_t input) const;
  void set_output(size_t index, OutputBuffer buffer);
  void clear_results();
  // Releases the inputs, the results and the state, at the end of the call's handle.
  void release_values();

  // Runs the request on this thread; see Call::run(). REQUIRES: check_input() succeeded for every
  // set input.
  Status run_here(const CallOptions& options);
  // Call::submit().
  Status submit(const SubmitOptions& options, Done done);
  // Waits until the request is idle and the functions `done` of its submissions have returned,
  // except one that calls this. Waits at most until `until`. Returns the result of the last
  // submission, or no value if the time has passed.
  std::optional<Status> wait(std::optional<std::chrono::steady_clock::time_point> until);
  // Errors: kInvalidArgument (the request is in flight).
  Status check_idle() const;
  // Errors: kInvalidArgument (a thread of the session's scheduler must not wait for a request).
  Status check_may_wait() const;
  bool is_in_flight() const { return is_in_flight_.load(std::memory_order_acquire); }
  // Call::cancel().
  void cancel();

  std::span<const Need> needs() const override { return needs_; }
  bool can_wait() const override;
  void admitted() override { admitted_ = std::chrono::steady_clock::now(); }
  void run(CallFiber* fiber) override;
  void refuse(const Status& status) override;
  bool is_cancelled() const override {
    return is_cancelled_.load(std::memory_order_relaxed) ||
           (has_cancel_flag() && options_.cancel->load(std::memory_order_relaxed));
  }
  bool has_cancel_flag() const override { return options_.cancel != nullptr; }

 private:
  // Begins the use of the state, if there is one, and binds the inputs. `is_attached` becomes true
  // when the use begins; its end is the caller's task, also after a failure.
  Status prepare(bool& is_attached);
  // submit() without metrics.
  Status queue(const SubmitOptions& options, Done done, bool& is_attached);
  // With a fiber, the fiber runs this.
  Status run_leased(CallContext& context, const CallOptions& given, CallFiber* fiber,
                    std::chrono::steady_clock::time_point start);
  // Counts and traces the waits of the submission, which ended now.
  Status end_waits(std::chrono::steady_clock::time_point now, StatusCode status);
  // Sets the needs and budgets. REQUIRES: bind_inputs() succeeded.
  Status find_needs(const SubmitOptions& options);
  // Sets Need::held to the bytes of results, which the scheduler holds until their release.
  void hold_results();
  void finish(const Status& status);

  std::atomic<bool> is_cancelled_{false};
  std::atomic<bool> is_in_flight_{false};
  // Of the submission; not accessed by others while the request is in flight.
  CallOptions options_;
  std::chrono::steady_clock::time_point submitted_;
  std::optional<std::chrono::steady_clock::time_point> admitted_;
  std::vector<Need> needs_;
  std::vector<int64_t> budgets_;  // by pool of the module: the most live bytes; -1: any
  Done done_;
  std::mutex mutex_;  // guards the members below
  std::condition_variable idle_;
  Status outcome_;
  int running_done_ = 0;  // functions `done` that have not returned
};

}  // namespace scopevm::vm
