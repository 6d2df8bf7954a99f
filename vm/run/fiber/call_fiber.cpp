// The hand-over of work from a fiber to its worker; see call_fiber.h.
#include "vm/run/fiber/call_fiber.h"

namespace scopevm::vm {

bool CallFiber::run() {
  if (fiber_->has_ended())
    fiber_->start([](void* self) { static_cast<CallFiber*>(self)->body(); }, this);
  for (;;) {
    fiber_->resume();
    if (fiber_->has_ended()) return true;
    // The fiber is suspended before the action: wake() can continue it on another thread at once.
    try {
      if (action_(*this, context_)) return false;
    } catch (...) {
      thrown_ = std::current_exception();
    }
  }
}

void CallFiber::hand_over(Action action, void* context) {
  action_ = action;
  context_ = context;
  fiber_->suspend();
  if (thrown_ != nullptr) std::rethrow_exception(std::exchange(thrown_, nullptr));
}

void CallFiber::wait(runtime::DeviceStream& stream, runtime::StreamWork work, int64_t bytes) {
  auto notify = [&](CallFiber& fiber) { return stream.notify(work, bytes, fiber); };
  hand_over([](CallFiber& fiber,
               void* context) { return (*static_cast<decltype(notify)*>(context))(fiber); },
            &notify);
}

void CallFiber::sleep_until(Time time) {
  hand_over(
      [](CallFiber& fiber, void* until) {
        fiber.wake_at(*static_cast<Time*>(until));
        return true;
      },
      &time);
}

}  // namespace scopevm::vm
