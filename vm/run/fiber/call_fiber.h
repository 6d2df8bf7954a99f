// CallFiber: a fiber that runs a call. How a call waits: without a fiber it blocks its thread; with
// one, it suspends the fiber and the worker runs other calls.
//
// Only the interpreter runs on the stack of the fiber. Code that can need a large stack, or depends
// on the thread, runs on the stack of the worker: kernels, parallel loops, external functions,
// drivers, allocators and the program's functions.
#pragma once

#include <chrono>
#include <exception>
#include <memory>
#include <type_traits>
#include <utility>

#include "runtime/device/device.h"
#include "vm/run/fiber/fiber.h"

namespace scopevm::vm {

// A worker calls run(), and calls it again after wake(). The other methods are called by body(), on
// the fiber.
class CallFiber : public runtime::Wakeup {
 public:
  using Time = std::chrono::steady_clock::time_point;

  explicit CallFiber(std::unique_ptr<Fiber> fiber) : fiber_(std::move(fiber)) {}
  virtual ~CallFiber() = default;
  CallFiber(const CallFiber&) = delete;
  CallFiber& operator=(const CallFiber&) = delete;

  // Runs body() until it ends, and then returns true, or until it waits. Then it returns false,
  // wake() will be called or was called, and the caller must not access the fiber any more.
  bool run();

  // Calls `function` on the stack of the worker. Returns its result, or throws its exception.
  template <typename Function>
  auto on_worker(Function&& function) {
    using Value = std::invoke_result_t<Function&>;
    using Callee = std::remove_reference_t<Function>;
    if constexpr (std::is_void_v<Value>) {
      hand_over(
          [](CallFiber&, void* callee) {
            (*static_cast<Callee*>(callee))();
            return false;
          },
          &function);
    } else {
      Value value{};
      auto store = [&] { value = function(); };
      on_worker(store);
      return value;
    }
  }
  // Waits until the method of the stream that waits for `work` would not wait, if the stream can
  // notify. `bytes`: see runtime::DeviceStream::notify().
  void wait(runtime::DeviceStream& stream, runtime::StreamWork work, int64_t bytes);
  // Waits until a time, or a little longer. Errors: std::bad_alloc.
  void sleep_until(Time time);

 protected:
  // What the fiber runs. Must not throw.
  virtual void body() = 0;
  // Calls wake() at this time. Called on the worker.
  virtual void wake_at(Time time) = 0;

 private:
  // An action of the worker. Returns whether wake() will be called, else the fiber continues.
  using Action = bool (*)(CallFiber& fiber, void* context);
  void hand_over(Action action, void* context);

  const std::unique_ptr<Fiber> fiber_;
  Action action_ = nullptr;
  void* context_ = nullptr;
  std::exception_ptr thrown_;  // by the action
};

// Calls `function` on a stack of normal size: directly if `fiber` is null, which is the case for
// calls that cannot wait.
template <typename Function>
auto on_thread_stack(CallFiber* fiber, Function&& function) {
  return fiber == nullptr ? function() : fiber->on_worker(function);
}

}  // namespace scopevm::vm
