// Cancels a run when the clients of all its requests have cancelled them. Triton has no callback
// for this: a thread polls the requests during runs that last longer than the interval.
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <span>
#include <thread>

#include "plugins/triton/request.h"

namespace scopevm::triton {

class Cancellation {
 public:
  Cancellation() : thread_([this](const std::stop_token& stop) { watch(stop); }) {}
  Cancellation(const Cancellation&) = delete;
  Cancellation& operator=(const Cancellation&) = delete;

  // Resets the flag and watches the requests until stop(). They must remain valid until then.
  void start(std::span<Request* const> requests);
  void stop();
  // For CallOptions::cancel.
  const std::atomic<bool>* flag() const { return &flag_; }

 private:
  void watch(const std::stop_token& stop);

  std::atomic<bool> flag_ = false;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::span<Request* const> requests_;  // guarded by mutex_; empty: no run
  std::jthread thread_;                 // last: it uses the other members
};

}  // namespace scopevm::triton
