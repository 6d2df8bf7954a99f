// Gathers the inputs of requests, and scatters the outputs; see batcher.h.
#include "tools/serve/model/batcher.h"

#include <algorithm>
#include <utility>

#include "tools/serve/model/inference.h"

namespace scopevm::serve {
namespace {

int64_t input_bytes(const Inference& request) {
  int64_t bytes = 0;
  for (const Tensor& input : request.batch_inputs()) bytes += input.bytes();
  return bytes;
}

}  // namespace

struct Batcher::Batch {
  Batch(Members members_, Call call_)
      : members(std::move(members_)), call(std::move(call_)), waiting(members.size()) {}

  // A member that does not wait any more: the last one ends the call.
  void leave() {
    if (waiting.fetch_sub(1) == 1) call.cancel();
  }

  Members members;
  Call call;
  std::atomic<size_t> waiting;
};

void Batcher::add(std::shared_ptr<Inference> request) {
  const int64_t rows = request->batch_rows();
  Members now;
  {
    const std::lock_guard lock(mutex_);
    const bool is_free = running_ < max_calls_ && waiting_.empty();
    if (is_free || rows < 1 || rows > max_rows_) {
      ++running_;
      now.push_back(std::move(request));
    } else {
      // Only the newest group that fits: a part of an older one can have run, and its place is
      // before that of requests that came earlier.
      const auto group = std::find_if(waiting_.rbegin(), waiting_.rend(), [&](const Group& other) {
        return can_join(other.members.front()->batch_inputs(), request->batch_inputs(), axes_);
      });
      const bool has_room = group != waiting_.rend() && group->rows + rows <= max_rows_;
      Group& joined = has_room ? *group : waiting_.emplace_back();
      joined.rows += rows;
      joined.members.push_back(std::move(request));
    }
  }
  if (!now.empty() && !run(std::move(now))) call_ended();
}

bool Batcher::run(Members members) {
  std::erase_if(members, [](const auto& member) { return member->end_if_stopped(); });
  if (members.empty()) return false;
  if (members.size() == 1) return run_alone(members.front());
  Result<Call> call = session_.make_call();
  if (!call.ok()) return run_each(members);
  const auto batch = std::make_shared<Batch>(members, *std::move(call));
  // Together they can need too much memory.
  return start(batch).ok() || run_each(members);
}

bool Batcher::run_alone(const std::shared_ptr<Inference>& member) {
  ++executions_;
  // The request exists until the function has returned.
  return member->run_alone([this, request = member.get(), bytes = input_bytes(*member)] {
    {
      const std::lock_guard lock(mutex_);
      size_.add(request->batch_rows(), bytes, request->compute_ns());
    }
    call_ended();
  });
}

// The members use the place of one call.
bool Batcher::run_each(const Members& members) {
  {
    const std::lock_guard lock(mutex_);
    running_ += static_cast<int>(members.size()) - 1;
  }
  int running = 0;
  for (const auto& member : members) running += run_alone(member) ? 1 : 0;
  const std::lock_guard lock(mutex_);
  running_ -= static_cast<int>(members.size()) - std::max(running, 1);
  return running > 0;
}

Status Batcher::start(const std::shared_ptr<Batch>& batch) {
  SubmitOptions options = batch->members.front()->options();
  for (const auto& member : batch->members) {
    const SubmitOptions& own = member->options();
    options.priority = std::max(options.priority, own.priority);
    // The batch ends when no member waits for it.
    if (!own.call.deadline || !options.call.deadline)
      options.call.deadline.reset();
    else
      options.call.deadline = std::max(*options.call.deadline, *own.call.deadline);
  }
  for (size_t input = 0; input < session_.signature().inputs.size(); ++input) {
    std::vector<Tensor> parts;
    for (const auto& member : batch->members) parts.push_back(member->batch_inputs()[input]);
    SCOPEVM_ASSIGN_OR_RETURN(const Tensor tensor, concatenated(parts, axes_.inputs[input]));
    SCOPEVM_RETURN_IF_ERROR(batch->call.set_input(input, tensor));
  }
  for (const auto& member : batch->members) member->set_left([batch] { batch->leave(); });
  SCOPEVM_RETURN_IF_ERROR(
      batch->call.submit(options, [this, batch](const Status& status) { end(batch, status); }));
  ++executions_;
  return {};
}

void Batcher::end(const std::shared_ptr<Batch>& batch, const Status& status) {
  const Members members = std::exchange(batch->members, {});
  const bool is_stopped =
      status.code() == StatusCode::kDeadlineExceeded || status.code() == StatusCode::kCancelled;
  // An input of one member can be the cause: each then runs alone.
  if (!status.ok() && !is_stopped) {
    if (!run_each(members)) call_ended();
    return;
  }
  const int64_t compute_ns = batch->call.stats().latency_ns;
  if (status.ok()) {
    const std::lock_guard lock(mutex_);
    int64_t rows = 0, bytes = 0;
    for (const auto& member : members) {
      rows += member->batch_rows();
      bytes += input_bytes(*member);
    }
    size_.add(rows, bytes, compute_ns);
  }
  int64_t first = 0;
  for (const auto& member : members) {
    const int64_t rows = member->batch_rows();
    std::vector<Tensor> outputs;
    Status failure = status;
    for (size_t output = 0; output < batch->call.outputs().size(); ++output) {
      Result<Tensor> part =
          rows_of(batch->call.outputs()[output], axes_.outputs[output], first, rows);
      if (!part.ok() && failure.ok()) failure = part.status();
      if (part.ok()) outputs.push_back(*std::move(part));
    }
    member->finish_in_batch(std::move(failure), std::move(outputs), compute_ns);
    first += rows;
  }
  batch->call.clear_outputs();
  call_ended();
}

Batcher::Members Batcher::take() {
  Group& group = waiting_.front();
  const int64_t most = size_.next(group.rows);
  Members taken;
  int64_t rows = 0;
  for (const auto& member : group.members) {
    if (!taken.empty() && rows + member->batch_rows() > most) break;
    rows += member->batch_rows();
    taken.push_back(member);
  }
  group.rows -= rows;
  group.members.erase(group.members.begin(), group.members.begin() + std::ssize(taken));
  if (group.members.empty()) waiting_.pop_front();
  return taken;
}

void Batcher::call_ended() {
  while (true) {
    Members next;
    {
      const std::lock_guard lock(mutex_);
      if (waiting_.empty() || running_ > max_calls_) {
        --running_;
        return;
      }
      next = take();  // in the place of the call that has ended
    }
    if (run(std::move(next))) return;
  }
}

}  // namespace scopevm::serve
