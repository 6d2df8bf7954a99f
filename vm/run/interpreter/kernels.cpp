// Interrupts (the deadline and the cancel flag of a call), and launches of CPU kernels. Kernels
// check interrupts themselves: see StopCheck of scopevm/kernel_abi.h.
#include <algorithm>
#include <atomic>

#include "runtime/cpu/stop_check.h"
#include "vm/run/call/interrupts.h"
#include "vm/run/interpreter/interpreter_class.h"

namespace scopevm::vm {
namespace {

struct KernelLoop {
  KernelFn kernel;
  void* const* buffers;
  const int64_t* params;
  const RunOptions& options;
  std::atomic<StatusCode> interrupt{StatusCode::kOk};  // ends the loop
};

// Whether a kernel of the loop must stop.
bool is_interrupted(void* context) {
  auto& loop = *static_cast<KernelLoop*>(context);
  if (loop.interrupt.load(std::memory_order_relaxed) == StatusCode::kOk)
    if (const StatusCode code = interrupt(loop.options); code != StatusCode::kOk)
      loop.interrupt.store(code, std::memory_order_relaxed);
  return loop.interrupt.load(std::memory_order_relaxed) != StatusCode::kOk;
}

void run_range(void* context, int64_t begin, int64_t end, int64_t worker) {
  auto& loop = *static_cast<KernelLoop*>(context);
  if (loop.interrupt.load(std::memory_order_relaxed) != StatusCode::kOk) return;
  const runtime::StopCheckScope stop_check(is_interrupted, context);
  loop.kernel(loop.buffers, loop.params, begin, end, worker, begin);
}

}  // namespace

bool Interpreter::fail_for_interrupt(StatusCode code) {
  status_ = interrupt_status(code);
  return false;
}

bool Interpreter::launch_on_cpu(const format::LaunchDecl& launch, int64_t grid, int64_t grain) {
  KernelLoop loop{kernels_[launch.kernel], frame_.buffers, frame_.slots + launch.params.value,
                  options_};
  // A single task runs on this thread, because a hand-over to another thread would take longer than
  // a small kernel.
  on_thread([&] {
    const int threads = grid <= grain ? 1 : session_.loop_threads();
    if (threads == 1)
      run_range(&loop, 0, grid, 0);
    else if (threads == session_.threads())
      run_parallel(grid, grain, run_range, &loop);
    else  // one range for each of these threads
      run_parallel(grid, std::max(grain, (grid - 1) / threads + 1), run_range, &loop);
  });
  const StatusCode code = loop.interrupt.load(std::memory_order_relaxed);
  return code == StatusCode::kOk || fail_for_interrupt(code);
}

}  // namespace scopevm::vm
