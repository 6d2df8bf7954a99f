// Reactors for ModelInfer and ModelStreamInfer; see infer_call.h.
#include "tools/serve/grpc/infer_call.h"

#include <grpcpp/server_context.h>

#include <charconv>
#include <chrono>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "tools/serve/grpc/convert.h"
#include "tools/serve/model/inference.h"
#include "tools/serve/protocol/invalid.h"

namespace scopevm::serve {
namespace {

using inference::ModelInferRequest;
using inference::ModelInferResponse;
using inference::ModelStreamInferResponse;

// The deadline of the call, which the client set.
std::optional<std::chrono::steady_clock::time_point> deadline_of(
    const grpc::CallbackServerContext& context) {
  const auto deadline = context.deadline();
  if (deadline == std::chrono::system_clock::time_point::max()) return std::nullopt;
  return std::chrono::steady_clock::now() + (deadline - std::chrono::system_clock::now());
}

// Starts the request in a message, or with `step`, a generation. If it fails, `done` is not called.
Result<std::shared_ptr<Inference>> start(Core& core, const grpc::CallbackServerContext& context,
                                         const ModelInferRequest& message, InferDone done,
                                         StepDone step = nullptr) {
  SCOPEVM_ASSIGN_OR_RETURN(
      auto model, find_model(core.repository, message.model_name(), message.model_version()));
  SCOPEVM_ASSIGN_OR_RETURN(InferRequest request, request_of(message));
  request.deadline = deadline_of(context);
  if (step)
    return Inference::generate(std::move(model), std::move(request), 0, std::move(step),
                               std::move(done));
  return Inference::start(std::move(model), std::move(request), 0, std::move(done));
}

// While models load, clients can find the model on another replica.
grpc::Status status_for(const Core& core, const Status& status) {
  grpc::Status result = grpc_status(status);
  if (result.error_code() == grpc::StatusCode::NOT_FOUND && !core.is_ready)
    return {grpc::StatusCode::UNAVAILABLE, result.error_message()};
  return result;
}

class UnaryCall : public grpc::ServerUnaryReactor {
 public:
  UnaryCall(Core& core, grpc::CallbackServerContext& context, const ModelInferRequest& request,
            ModelInferResponse& response)
      : core_(core) {
    // The reactor lives until OnDone(), which follows Finish().
    auto started = start(core, context, request,
                         [this, &context, &response](const Result<InferResponse>& result) {
                           if (result.ok()) write_response(*result, response);
                           finish(context, result.status());
                         });
    if (!started.ok()) {
      finish(context, started.status());
    } else {
      const std::lock_guard lock(mutex_);
      inference_ = *started;
      if (is_cancelled_) (*started)->cancel();
    }
  }

  void OnCancel() override {
    const std::lock_guard lock(mutex_);
    is_cancelled_ = true;
    if (const auto inference = inference_.lock()) inference->cancel();
  }

  void OnDone() override { delete this; }

 private:
  void finish(grpc::CallbackServerContext& context, const Status& status) {
    // The time after which clients that retry by their policy try again.
    if (status.code() == StatusCode::kResourceLimit)
      context.AddTrailingMetadata("grpc-retry-pushback-ms", "1000");
    Finish(status_for(core_, status));  // OnDone() can follow at once, on another thread
  }

  const Core& core_;
  std::mutex mutex_;
  std::weak_ptr<Inference> inference_;
  bool is_cancelled_ = false;
};

// Reads up to kMaxInFlight requests ahead of the responses. A request with the parameter `steps` is
// a generation: each step is a response, and the next step starts when it was written.
class StreamCall : public grpc::ServerBidiReactor<ModelInferRequest, ModelStreamInferResponse> {
 public:
  StreamCall(Core& core, grpc::CallbackServerContext& context) : core_(core), context_(context) {
    StartRead(&reading_->request);
  }

  void OnReadDone(bool ok) override {
    const std::shared_ptr<Slot> slot = reading_;
    if (ok) {
      {
        const std::lock_guard lock(mutex_);
        slots_.push_back(slot);
      }
      run(slot);
    }
    {
      const std::lock_guard lock(mutex_);
      is_reading_ = false;
      has_ended_ |= !ok;
    }
    advance();
  }

  void OnWriteDone(bool ok) override {
    std::function<void()> resume;
    {
      const std::lock_guard lock(mutex_);
      Slot& slot = *slots_.front();
      resume = std::exchange(slot.resume, nullptr);
      slot.has_response = false;
      is_writing_ = false;
      has_failed_ |= !ok;
      if (!resume)
        slots_.pop_front();
      else if (has_failed_)
        resume = [inference = slot.inference.lock()] {
          if (inference) inference->cancel();
        };
    }
    if (resume) resume();
    advance();
  }

  void OnCancel() override {
    std::vector<std::shared_ptr<Inference>> running;
    {
      const std::lock_guard lock(mutex_);
      has_failed_ = true;
      for (const auto& slot : slots_)
        if (auto inference = slot->inference.lock()) running.push_back(std::move(inference));
    }
    for (const auto& inference : running) inference->cancel();  // can end it
  }

  void OnDone() override { delete this; }

 private:
  static constexpr size_t kMaxInFlight = 64;

  struct Slot {
    ModelInferRequest request;
    ModelStreamInferResponse response;
    std::weak_ptr<Inference> inference;
    bool has_response = false;     // that is not written
    std::function<void()> resume;  // after the response of a step that is not the last one
    bool is_complete = false;
  };

  void run(const std::shared_ptr<Slot>& slot) {
    const bool is_generation = slot->request.parameters().contains("steps");
    const auto write = [slot, is_generation](const InferResponse& outputs, bool is_last) {
      auto& response = *slot->response.mutable_infer_response();
      response.Clear();
      write_response(outputs, response);
      // The name that clients of Triton know.
      if (is_generation)
        (*response.mutable_parameters())["triton_final_response"].set_bool_param(is_last);
    };
    const auto done = [this, slot, write](const Result<InferResponse>& result) {
      if (result.ok()) write(*result, true);
      complete(*slot, result.status());
    };
    const auto step = [this, slot, write](const InferResponse& outputs,
                                          std::function<void()> resume) -> Status {
      write(outputs, false);
      {
        const std::lock_guard lock(mutex_);
        slot->has_response = true;
        slot->resume = std::move(resume);
      }
      advance();
      return {};
    };
    auto started = start(core_, context_, slot->request, done,
                         is_generation ? StepDone(step) : StepDone(nullptr));
    if (!started.ok()) return complete(*slot, started.status());
    bool is_cancelled = false;
    {
      const std::lock_guard lock(mutex_);
      slot->inference = *started;
      is_cancelled = has_failed_;
    }
    if (is_cancelled) (*started)->cancel();
  }

  void complete(Slot& slot, const Status& status) {
    {
      const std::lock_guard lock(mutex_);
      // After a failure, the response of the last step can be in the middle of its write.
      if (!status.ok() && !has_failed_) {
        slot.response.Clear();
        slot.response.set_error_message(std::string(status.message()));
        slot.response.mutable_infer_response()->set_id(slot.request.id());
      }
      slot.has_response = slot.is_complete = true;
    }
    advance();
  }

  // Starts the next read or write, or ends the stream.
  void advance() {
    bool reads = false, writes = false, ends = false;
    std::shared_ptr<Slot> front;
    {
      const std::lock_guard lock(mutex_);
      // After a failure, responses are unused.
      while (has_failed_ && !is_writing_ && !slots_.empty() && slots_.front()->is_complete)
        slots_.pop_front();
      reads = !is_reading_ && !has_ended_ && !has_failed_ && slots_.size() < kMaxInFlight;
      if (reads) {
        reading_ = std::make_shared<Slot>();
        is_reading_ = true;
      }
      writes = !is_writing_ && !slots_.empty() && slots_.front()->has_response;
      if (writes) {
        is_writing_ = true;
        front = slots_.front();
      }
      ends = !is_reading_ && !is_writing_ && slots_.empty() && !is_finished_;
      is_finished_ |= ends;
    }
    if (reads) StartRead(&reading_->request);
    if (writes) StartWrite(&front->response);
    if (ends) Finish(grpc::Status::OK);
  }

  Core& core_;
  grpc::CallbackServerContext& context_;
  std::mutex mutex_;
  std::shared_ptr<Slot> reading_ = std::make_shared<Slot>();
  std::deque<std::shared_ptr<Slot>> slots_;  // from the oldest request without a response
  bool is_reading_ = true;
  bool is_writing_ = false;
  bool has_ended_ = false;   // the client sends no further requests
  bool has_failed_ = false;  // the client is gone
  bool is_finished_ = false;
};

}  // namespace

Result<std::shared_ptr<LoadedModel>> find_model(const Repository& repository,
                                                const std::string& name,
                                                const std::string& version) {
  if (version.empty()) return repository.find(name);
  int64_t number = 0;
  const char* const last = version.data() + version.size();
  const auto [end, error] = std::from_chars(version.data(), last, number);
  if (error != std::errc() || end != last)
    return invalid("expected a number as version, given " + version);
  return repository.find(name, number);
}

grpc::ServerUnaryReactor* infer_once(Core& core, grpc::CallbackServerContext& context,
                                     const ModelInferRequest& request,
                                     ModelInferResponse& response) {
  return new UnaryCall(core, context, request, response);
}

grpc::ServerBidiReactor<ModelInferRequest, ModelStreamInferResponse>* infer_stream(
    Core& core, grpc::CallbackServerContext& context) {
  return new StreamCall(core, context);
}

}  // namespace scopevm::serve
