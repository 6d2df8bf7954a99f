// The time between two looks at messages.
#pragma once

#include <sched.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

namespace scopevm::vm {

// Waits a little, longer each time: first for messages that arrive in microseconds, then without
// using the CPU.
class Pause {
 public:
  // `is_alone`: no other thread of the process has work, which would wait for a CPU meanwhile.
  void operator()(bool is_alone = true) {
    if (is_alone && ++count_ < kYields)
      sched_yield();
    else
      std::this_thread::sleep_for(next_sleep());
  }
  // The duration of the next sleep.
  std::chrono::microseconds next_sleep() {
    return std::exchange(sleep_, std::min(sleep_ * 2, kLongest));
  }

 private:
  static constexpr int kYields = 2000;
  static constexpr std::chrono::microseconds kLongest{500};
  int count_ = 0;
  std::chrono::microseconds sleep_{20};
};

}  // namespace scopevm::vm
