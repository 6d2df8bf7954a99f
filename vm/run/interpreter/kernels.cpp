// Interrupts (the deadline and the cancel flag of a call), and launches of CPU kernels. Kernels
// check interrupts themselves: see StopCheck of scopevm/kernel_abi.h.
#include <algorithm>

#include "runtime/cpu/stop_check.h"
#include "vm/run/call/interrupts.h"
#include "vm/run/interpreter/interpreter_class.h"

namespace scopevm::vm {

struct Interpreter::KernelLoop {
  KernelFn kernel;
  void* const* buffers;
  const int64_t* params;
  Interpreter& interpreter;
};

bool Interpreter::is_interrupted(void* interpreter) {
  auto& run = *static_cast<Interpreter*>(interpreter);
  if (run.interrupt_.load(std::memory_order_relaxed) == StatusCode::kOk)
    if (const StatusCode code = interrupt(run.options_); code != StatusCode::kOk)
      run.interrupt_.store(code, std::memory_order_relaxed);
  return run.interrupt_.load(std::memory_order_relaxed) != StatusCode::kOk;
}

void Interpreter::run_range(void* loop, int64_t begin, int64_t end, int64_t worker) {
  const auto& launch = *static_cast<const KernelLoop*>(loop);
  if (launch.interpreter.interrupt_.load(std::memory_order_relaxed) != StatusCode::kOk) return;
  const runtime::StopCheckScope stop_check(is_interrupted, &launch.interpreter);
  launch.kernel(launch.buffers, launch.params, begin, end, worker, begin);
}

bool Interpreter::fail_for_interrupt(StatusCode code) {
  status_ = interrupt_status(code);
  return false;
}

bool Interpreter::launch_kernel(const format::LaunchDecl& launch, isa::RegisterList buffers,
                                int64_t grid) {
  const Clock::time_point start = is_timed_ ? Clock::now() : Clock::time_point();
  // A slot can contain any number, but executors and devices require a positive grain.
  const int64_t grain = std::max<int64_t>(value(launch.grain), 1);
  const bool is_done = kernels_[launch.kernel] != nullptr
                           ? launch_on_cpu(launch, grid, grain)
                           : launch_on_device(launch, buffers, grid, grain);
  return is_done && (!is_timed_ || finish_launch(launch, buffers, start));
}

bool Interpreter::launch_on_cpu(const format::LaunchDecl& launch, int64_t grid, int64_t grain) {
  KernelLoop loop{kernels_[launch.kernel], frame_.buffers, frame_.slots + launch.params.value,
                  *this};
  on_thread([&] {
    const int threads = grid <= grain ? 1 : session_.loop_threads();
    if (threads == 1)
      run_range(&loop, 0, grid, 0);
    else if (threads == session_.threads())
      run_parallel(grid, grain, run_range, &loop);
    else  // one range for each of these threads
      run_parallel(grid, std::max(grain, (grid - 1) / threads + 1), run_range, &loop);
  });
  return check_kernel();
}

}  // namespace scopevm::vm
