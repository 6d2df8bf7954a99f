// The thread of a scheduler that ends waiting requests at their deadlines or by their flags, and
// the sleep of fibers; see call_scheduler.h.
#include <algorithm>
#include <chrono>
#include <memory>
#include <mutex>
#include <optional>

#include "vm/run/admission/call_scheduler.h"

namespace scopevm::vm {
namespace {

// The time between two looks at the cancel flags of waiting requests.
constexpr std::chrono::milliseconds kFlagPeriod{2};

}  // namespace

std::optional<CallScheduler::Time> CallScheduler::next_time() const {
  std::optional<Time> next = queue_.next_deadline();
  const auto add = [&](Time time) { next = next ? std::min(*next, time) : time; };
  if (!deadlines_of_ready_.empty()) add(deadlines_of_ready_.begin()->first);
  if (!sleeping_.empty()) add(sleeping_.begin()->first);
  if (flags_ > 0) add(next_poll_);
  return next;
}

std::shared_ptr<ScheduledRequest> CallScheduler::take_cancelled() {
  const Time now = std::chrono::steady_clock::now();
  if (flags_ == 0 || now < next_poll_) return nullptr;
  const auto job = std::ranges::find_if(waiting_, [](const Job& waiting) {
    return waiting.request->has_cancel_flag() && waiting.request->is_cancelled();
  });
  if (job == waiting_.end()) {
    next_poll_ = now + kFlagPeriod;
    return nullptr;
  }
  std::shared_ptr<ScheduledRequest> request = drop(*job);
  admit();
  return request;
}

std::shared_ptr<ScheduledRequest> CallScheduler::take_late() {
  const Time now = std::chrono::steady_clock::now();
  Job* late = nullptr;
  if (const std::optional<AdmissionQueue::Entry> expired = queue_.expire(now))
    late = static_cast<Job*>(expired->request);
  else if (!deadlines_of_ready_.empty() && deadlines_of_ready_.begin()->first <= now)
    late = deadlines_of_ready_.begin()->second;
  if (late == nullptr) return nullptr;
  std::shared_ptr<ScheduledRequest> request = drop(*late);
  admit();
  return request;
}

void CallScheduler::wake_sleepers() {
  while (!sleeping_.empty() && sleeping_.begin()->first <= std::chrono::steady_clock::now()) {
    push_woken(*sleeping_.begin()->second);
    sleeping_.erase(sleeping_.begin());
  }
}

void CallScheduler::watch_deadlines() {
  enter_thread();
  std::unique_lock lock(mutex_);
  while (!is_stopping_) {
    wake_sleepers();
    if (std::shared_ptr<ScheduledRequest> late = take_late()) {
      lock.unlock();
      late->refuse(
          {StatusCode::kDeadlineExceeded, "the call's deadline passed before it was started"});
      late.reset();
      lock.lock();
    } else if (std::shared_ptr<ScheduledRequest> cancelled = take_cancelled()) {
      lock.unlock();
      cancelled->refuse({StatusCode::kCancelled, "the call was cancelled"});
      cancelled.reset();
      lock.lock();
    } else if (const std::optional<Time> next = next_time()) {
      deadlines_.wait_until(lock, *next);
    } else {
      deadlines_.wait(lock);
    }
  }
}

}  // namespace scopevm::vm
