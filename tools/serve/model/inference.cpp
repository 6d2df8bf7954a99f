// The life of a request: its inputs, its sequence, its run and its response; see inference.h.
#include "tools/serve/model/inference.h"
#include "tools/serve/protocol/invalid.h"

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "runtime/quoted.h"
#include "tools/serve/model/create_state.h"

namespace scopevm::serve {
namespace {

using std::chrono::steady_clock;

// A request that needs more than a pool or a budget has can never succeed.
Status of_request(Status status) {
  if (status.code() != StatusCode::kResourceLimit) return status;
  return invalid(std::string(status.message()));
}

// A sequence has a number or a text as its name.
Result<std::optional<std::string>> sequence_id(const Parameters& parameters) {
  const auto found = parameters.find("sequence_id");
  if (found == parameters.end()) return std::optional<std::string>();
  if (const auto* text = std::get_if<std::string>(&found->second)) {
    if (text->empty()) return std::optional<std::string>();
    return std::optional(*text);
  }
  if (const auto* large = std::get_if<uint64_t>(&found->second))
    return std::optional(std::to_string(*large));
  const auto* number = std::get_if<int64_t>(&found->second);
  if (number == nullptr)
    return invalid("parameter \"sequence_id\": expected an integer or a string");
  if (*number == 0) return std::optional<std::string>();  // the protocol's value for none
  return std::optional(std::to_string(*number));
}

Status cancelled() { return {StatusCode::kCancelled, "the request was cancelled"}; }

int64_t since(steady_clock::time_point start) {
  return std::chrono::nanoseconds(steady_clock::now() - start).count();
}

}  // namespace

Inference::Inference(std::shared_ptr<LoadedModel> model, InferRequest request, StepDone step,
                     InferDone done)
    : model_(std::move(model)),
      request_(std::move(request)),
      step_(std::move(step)),
      done_(std::move(done)) {}

std::shared_ptr<Inference> Inference::start(std::shared_ptr<LoadedModel> model,
                                            InferRequest request, uint64_t request_id,
                                            InferDone done) {
  return start(std::move(model), std::move(request), request_id, nullptr, std::move(done));
}

std::shared_ptr<Inference> Inference::generate(std::shared_ptr<LoadedModel> model,
                                               InferRequest request, uint64_t request_id,
                                               StepDone step, InferDone done) {
  return start(std::move(model), std::move(request), request_id, std::move(step), std::move(done));
}

std::shared_ptr<Inference> Inference::start(std::shared_ptr<LoadedModel> model,
                                            InferRequest request, uint64_t request_id,
                                            StepDone step, InferDone done) {
  std::shared_ptr<Inference> inference(
      new Inference(std::move(model), std::move(request), std::move(step), std::move(done)));
  const int64_t others = inference->model_->statistics.in_flight.fetch_add(1);
  Status status = inference->prepare(request_id);
  const auto most = static_cast<int64_t>(inference->model_->config.max_requests);
  if (status.ok() && others >= most)
    status = {StatusCode::kResourceLimit,
              "the model has " + std::to_string(most) + " requests in flight already"};
  if (status.ok())
    status = inference->sequence_id_ ? inference->enter_sequence() : inference->run();
  if (!status.ok()) inference->finish(std::move(status));
  return inference;
}

Status Inference::prepare(uint64_t request_id) {
  const Parameters& parameters = request_.parameters;
  SCOPEVM_ASSIGN_OR_RETURN(
      const std::optional<int64_t> timeout,
      find_parameter<int64_t>(parameters, "timeout", "an integer: microseconds"));
  SCOPEVM_ASSIGN_OR_RETURN(const std::optional<int64_t> priority,
                           find_parameter<int64_t>(parameters, "priority", "an integer"));
  constexpr int64_t kLongestUs = 24LL * 3600 * 1'000'000;
  if (timeout && *timeout < 0) return invalid("parameter \"timeout\": expected at least 0");
  const int64_t limit_us = timeout.value_or(0) > 0 ? *timeout : model_->config.timeout.count();
  options_.call.deadline = request_.deadline;
  if (limit_us > 0) {
    const auto own = started_ + std::chrono::microseconds(std::min(limit_us, kLongestUs));
    options_.call.deadline = std::min(own, request_.deadline.value_or(own));
  }
  if (priority && (*priority < -1000 || *priority > 1000))
    return invalid("parameter \"priority\": expected an integer from -1000 to 1000");
  options_.priority = static_cast<int>(priority.value_or(model_->config.priority));
  options_.data_budgets = model_->config.data_budgets;
  options_.call.request_id = request_id;
  options_.can_run_here = model_->statistics.is_short();
  SCOPEVM_RETURN_IF_ERROR(start_sequence());
  if (step_) SCOPEVM_RETURN_IF_ERROR(start_generation());
  SCOPEVM_ASSIGN_OR_RETURN(call_, model_->session.make_call());
  return set_inputs();
}

Status Inference::start_sequence() {
  const Parameters& parameters = request_.parameters;
  SCOPEVM_ASSIGN_OR_RETURN(sequence_id_, sequence_id(parameters));
  SCOPEVM_ASSIGN_OR_RETURN(const std::optional<bool> is_start,
                           find_parameter<bool>(parameters, "sequence_start", "a boolean"));
  SCOPEVM_ASSIGN_OR_RETURN(const std::optional<bool> is_end,
                           find_parameter<bool>(parameters, "sequence_end", "a boolean"));
  is_sequence_start_ = is_start.value_or(false);
  is_sequence_end_ = is_end.value_or(false);
  if (sequence_id_ && model_->states.empty())
    return invalid("parameter \"sequence_id\": the model has no states");
  if (!sequence_id_ && (is_sequence_start_ || is_sequence_end_))
    return invalid("parameter \"sequence_start\" or \"sequence_end\" without \"sequence_id\"");
  return {};
}

Status Inference::start_generation() {
  const std::optional<GenerateConfig>& config = model_->config.generate;
  if (!config) return invalid("config.json of the model has no \"generate\"");
  const std::string expected = "an integer from 1 to " + std::to_string(config->steps);
  SCOPEVM_ASSIGN_OR_RETURN(const std::optional<int64_t> steps,
                           find_parameter<int64_t>(request_.parameters, "steps", expected));
  if (steps && (*steps < 1 || *steps > config->steps))
    return invalid("parameter \"steps\": expected " + expected);
  generation_.emplace(*config, model_->module.signature(), steps.value_or(config->steps));
  return {};
}

Status Inference::set_inputs() {
  for (const NamedTensor& input : request_.inputs) {
    const bool is_state =
        std::ranges::find(model_->states, input.name, &StatePair::input) != model_->states.end();
    if (sequence_id_ && is_state)
      return invalid("input " + runtime::quoted(input.name) + " is a state of the sequence");
    if (generation_ && is_state) continue;  // the initial value
    const Status status = call_->set_input(input.name, input.tensor);
    // Clients of gRPC get NOT_FOUND for unknown models only.
    if (status.code() == StatusCode::kNotFound) return invalid(std::string(status.message()));
    SCOPEVM_RETURN_IF_ERROR(status);
  }
  if (!request_.outputs) return {};
  for (const RequestedOutput& output : *request_.outputs) {
    const Result<size_t> found = call_->find_output(output.name);
    if (!found.ok()) return invalid(std::string(found.status().message()));
  }
  return {};
}

Status Inference::enter_sequence() {
  return model_->sequences.enter(
      *sequence_id_, is_sequence_start_,
      [self = shared_from_this()](const std::shared_ptr<Sequence>& sequence) {
        return self->run_in(sequence);
      });
}

bool Inference::run_in(const std::shared_ptr<Sequence>& sequence) {
  const auto run = [&]() -> Status {
    if (is_sequence_start_) {
      sequence->state.reset();  // its memory is free for the new one
      SCOPEVM_ASSIGN_OR_RETURN(sequence->state, create_state(*model_, request_.inputs));
    }
    if (!sequence->state)
      return invalid("sequence " + runtime::quoted(sequence->id) +
                     " has ended before this request");
    SCOPEVM_RETURN_IF_ERROR(call_->set_state(*sequence->state));
    sequence_ = sequence;
    return submit({});
  };
  Status status = run();
  if (status.ok()) return true;
  sequence_ = nullptr;  // the caller continues with the sequence
  finish(std::move(status));
  return false;
}

// Whether the request can be a part of a larger call.
bool Inference::has_rows() {
  if (!model_->batcher || batch_inputs_.size() != model_->module.signature().inputs.size())
    return false;
  const std::optional<int64_t> rows = rows_in(batch_inputs_, model_->batcher->axes());
  batch_rows_ = rows.value_or(0);
  return rows.has_value();
}

Status Inference::run() {
  if (generation_) {
    if (model_->states.empty()) return submit({});
    SCOPEVM_ASSIGN_OR_RETURN(own_state_, create_state(*model_, request_.inputs));
    SCOPEVM_RETURN_IF_ERROR(call_->set_state(*own_state_));
    return submit({});
  }
  const Signature& signature = model_->module.signature();
  for (const TensorSignature& input : signature.inputs) {
    const auto given = std::ranges::find(request_.inputs, input.name, &NamedTensor::name);
    if (given != request_.inputs.end()) batch_inputs_.push_back(given->tensor);
  }
  if (!has_rows()) return submit({});
  model_->batcher->add(shared_from_this());
  return {};
}

bool Inference::end_if_stopped() {
  const bool is_late = options_.call.deadline && steady_clock::now() > *options_.call.deadline;
  Status status;
  {
    const std::lock_guard lock(mutex_);
    if (is_cancelled_) status = cancelled();
  }
  if (status.ok() && is_late)
    status = {StatusCode::kDeadlineExceeded, "the deadline passed before the call was started"};
  if (status.ok()) return false;
  finish(std::move(status));
  return true;
}

bool Inference::run_alone(std::function<void()> ended) {
  Status status = submit(std::move(ended));
  if (status.ok()) return true;
  finish(std::move(status));
  return false;
}

void Inference::set_left(std::function<void()> left) {
  const std::lock_guard lock(mutex_);
  left_ = std::move(left);
  if (is_cancelled_ && left_) std::exchange(left_, nullptr)();
}

void Inference::finish_in_batch(Status status, std::vector<Tensor> outputs, int64_t compute_ns) {
  {
    const std::lock_guard lock(mutex_);
    left_ = nullptr;
    if (is_cancelled_) status = cancelled();
  }
  is_in_batch_ = true;
  batch_outputs_ = std::move(outputs);
  compute_ns_ = compute_ns;
  finish(std::move(status));
}

Status Inference::submit(std::function<void()> ended) {
  {
    const std::lock_guard lock(mutex_);
    if (is_cancelled_) return cancelled();
    is_submitted_ = true;  // cancel() before the call is in flight has an effect, too
  }
  Status status = call_->submit(
      options_, [self = shared_from_this(), ended = std::move(ended)](const Status& end) {
        if (end.ok()) self->compute_ns_ = self->call_->stats().latency_ns;
        self->generation_ ? self->step_ended(of_request(end)) : self->finish(of_request(end));
        if (ended) ended();
      });
  return of_request(std::move(status));
}

// The last step ends the request.
void Inference::step_ended(const Status& end) {
  const Result<bool> goes_on = end.ok() ? generation_->advance(call_->outputs()) : end;
  if (!goes_on.ok() || !*goes_on) return finish(goes_on.status());
  Result<InferResponse> outputs = response();
  if (!outputs.ok()) return finish(outputs.status());
  record(true);
  call_->clear_outputs();
  Status status;
  {
    const std::lock_guard lock(mutex_);
    is_submitted_ = false;
    is_waiting_ = !is_cancelled_;
    if (is_cancelled_) status = cancelled();
  }
  if (!status.ok()) return finish(std::move(status));
  const auto self = shared_from_this();  // cancel() can end the request meanwhile
  status = step_(*std::move(outputs), [self] { self->resume(); });
  if (!status.ok() && end_wait()) finish(std::move(status));
}

void Inference::resume() {
  if (!end_wait()) return;
  run_started_ = steady_clock::now();
  const auto run = [&]() -> Status {
    for (const NamedTensor& input : generation_->inputs())
      SCOPEVM_RETURN_IF_ERROR(call_->set_input(input.name, input.tensor));
    return submit({});
  };
  Status status = run();
  if (!status.ok()) finish(std::move(status));
}

// Whether the caller continues or ends a generation that waited for the receiver of its step.
bool Inference::end_wait() {
  const std::lock_guard lock(mutex_);
  return std::exchange(is_waiting_, false);
}

void Inference::cancel() {
  {
    const std::lock_guard lock(mutex_);
    is_cancelled_ = true;
    if (is_submitted_) call_->cancel();
    if (left_) std::exchange(left_, nullptr)();
  }
  if (end_wait()) finish(cancelled());
}

std::span<const Tensor> Inference::outputs() const {
  return is_in_batch_ ? std::span<const Tensor>(batch_outputs_) : call_->outputs();
}

bool Inference::is_state_output(const std::string& name) const {
  return std::ranges::find(model_->states, name, &StatePair::output) != model_->states.end();
}

Result<InferResponse> Inference::response() const {
  const Signature& signature = model_->module.signature();
  InferResponse response{model_->name, std::to_string(model_->version), request_.id, {}, {}};
  const auto add = [&](size_t index, bool is_binary) -> Status {
    const std::string& name = signature.outputs[index].name;
    const Tensor& tensor = outputs()[index];
    if (tensor.is_empty())
      return invalid("output " + runtime::quoted(name) +
                     (is_state_output(name)
                          ? " is a state in memory of another rank"
                          : " is not a tensor, and the protocol has no other values"));
    response.outputs.push_back({name, tensor});
    response.is_binary.push_back(is_binary);
    return {};
  };
  if (request_.outputs) {
    for (const RequestedOutput& output : *request_.outputs) {
      SCOPEVM_ASSIGN_OR_RETURN(const size_t index, call_->find_output(output.name));
      SCOPEVM_RETURN_IF_ERROR(add(index, output.is_binary));
    }
    return response;
  }
  for (size_t i = 0; i < signature.outputs.size(); ++i)
    if (!has_state() || !is_state_output(signature.outputs[i].name))
      SCOPEVM_RETURN_IF_ERROR(add(i, request_.is_binary));
  return response;
}

void Inference::record(bool is_success) const {
  ModelStatistics& statistics = model_->statistics;
  const int64_t total_ns = since(run_started_);
  if (is_success) {
    statistics.queue_ns += total_ns - compute_ns_;
    statistics.compute_ns += compute_ns_;
    statistics.add_latency(total_ns);
  }
  (is_success ? statistics.success_ns : statistics.failure_ns) += total_ns;
  ++(is_success ? statistics.successes : statistics.failures);
  statistics.last_ms = std::chrono::duration_cast<std::chrono::milliseconds>(
                           std::chrono::system_clock::now().time_since_epoch())
                           .count();
}

void Inference::finish(Status status) {
  Result<InferResponse> result = status.ok() ? response() : std::move(status);
  record(result.ok());
  --model_->statistics.in_flight;
  // Before the response: its client can begin another sequence at once.
  if (sequence_ && is_sequence_end_) model_->sequences.end(sequence_);
  std::exchange(done_, nullptr)(std::move(result));
  if (call_) call_->clear_outputs();
  batch_outputs_.clear();
  batch_inputs_.clear();
  request_ = {};
  if (has_state() && call_) (void)call_->unset_state();
  own_state_.reset();
  if (!sequence_) return;
  if (is_sequence_end_) sequence_->state.reset();
  model_->sequences.leave(std::exchange(sequence_, nullptr));
}

}  // namespace scopevm::serve
