#include "plugins/triton/cancellation.h"

#include <algorithm>
#include <chrono>

#include "plugins/triton/status.h"

namespace scopevm::triton {
namespace {

constexpr std::chrono::milliseconds kInterval(5);

bool is_cancelled(const Request* request) {
  bool cancelled = false;
  log_if(TRITONBACKEND_RequestIsCancelled(request->handle(), &cancelled),
         "TRITONBACKEND_RequestIsCancelled");
  return cancelled;
}

}  // namespace

void Cancellation::start(std::span<Request* const> requests) {
  const std::lock_guard lock(mutex_);
  flag_ = false;
  requests_ = requests;
  changed_.notify_one();
}

void Cancellation::stop() {
  const std::lock_guard lock(mutex_);
  requests_ = {};
  changed_.notify_one();
}

void Cancellation::watch(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    if (!changed_.wait(lock, stop, [&] { return !requests_.empty(); })) return;
    // The run that is in progress after the interval can be another one, which does no harm.
    changed_.wait_for(lock, stop, kInterval, [&] { return requests_.empty(); });
    if (!requests_.empty() && std::all_of(requests_.begin(), requests_.end(), is_cancelled))
      flag_ = true;
  }
}

}  // namespace scopevm::triton
