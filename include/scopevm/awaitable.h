/// AwaitableCall: submits a call and awaits its end in a C++20 coroutine.
#pragma once

#include <coroutine>
#include <utility>

#include "scopevm/session.h"

namespace scopevm {

/// What a coroutine awaits to run a call of a session with a scheduler:
///
///     const Status status = co_await AwaitableCall(call, {.priority = 1});
///
/// The call is submitted (Call::submit()) when it is awaited, and the coroutine continues where the
/// function `done` would run: on a worker of the scheduler, or on the thread that ended the waiting
/// of the call. It can use, submit, await or destroy the call, but run() and wait() fail there. The
/// errors are those of submit() and of the run.
class AwaitableCall {
 public:
  /// `call` must exist until its end.
  explicit AwaitableCall(Call& call, SubmitOptions options = {})
      : call_(call), options_(std::move(options)) {}

  /// False: the call is submitted first.
  bool await_ready() const noexcept { return false; }
  /// Submits the call. Returns false if this fails: the coroutine goes on at once.
  bool await_suspend(std::coroutine_handle<> coroutine) {
    // The call can end, and the coroutine destroy this object, before submit() returns.
    const SubmitOptions options = options_;
    Status submitted = call_.submit(options, [this, coroutine](const Status& status) {
      status_ = status;
      coroutine.resume();
    });
    if (submitted.ok()) return true;
    status_ = std::move(submitted);
    return false;
  }
  /// The result of the run, or the error of submit().
  Status await_resume() { return std::move(status_); }

 private:
  Call& call_;
  SubmitOptions options_;
  Status status_;
};

}  // namespace scopevm
