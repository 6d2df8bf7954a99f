// Interrupts (the deadline and the cancel flag of a call), and launches of CPU kernels in blocks of
// work items, between which interrupts are checked. The results of a kernel do not depend on the
// ranges in which its items run. Kernels also check interrupts themselves, within an item that
// takes long.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <limits>

#include "runtime/cpu/stop_check.h"
#include "vm/run/call/interrupts.h"
#include "vm/run/interpreter/interpreter_class.h"

namespace scopevm::vm {
namespace {

namespace op = isa::op;
using Clock = std::chrono::steady_clock;

// A block starts with one grain of items. The next block has twice as many items if a block takes
// less than kMinTime, and half as many, but at least one grain, if it takes more than kMaxTime.
constexpr std::chrono::microseconds kMinTime{250};
constexpr std::chrono::microseconds kMaxTime{500};

// A parallel loop whose ranges run in blocks. The blocks of a range have the same `first`. The
// kernel therefore does not repeat work that several items share, such as packing the rows of a
// matrix.
struct BlockLoop {
  KernelFn kernel;
  void* const* buffers;
  const int64_t* params;
  const int64_t grain;
  const RunOptions& options;
  std::atomic<int64_t> block_items{grain};             // of the first block of the next range
  std::atomic<StatusCode> interrupt{StatusCode::kOk};  // ends the loop
};

// The number of items of the block after a block of `items` items that took `time`.
int64_t next_block(int64_t items, int64_t grain, Clock::duration time) {
  if (time < kMinTime) return std::min(items, std::numeric_limits<int64_t>::max() / 2) * 2;
  return time > kMaxTime ? std::max(items / 2, grain) : items;
}

// Whether a kernel of the loop must stop.
bool is_interrupted(void* context) {
  auto& loop = *static_cast<BlockLoop*>(context);
  if (loop.interrupt.load(std::memory_order_relaxed) == StatusCode::kOk)
    if (const StatusCode code = interrupt(loop.options); code != StatusCode::kOk)
      loop.interrupt.store(code, std::memory_order_relaxed);
  return loop.interrupt.load(std::memory_order_relaxed) != StatusCode::kOk;
}

void run_blocks(void* context, int64_t begin, int64_t end, int64_t worker) {
  auto& loop = *static_cast<BlockLoop*>(context);
  const runtime::StopCheckScope stop_check(is_interrupted, context);
  if (end - begin <= loop.grain) {  // one block: the next check of the call follows it
    loop.kernel(loop.buffers, loop.params, begin, end, worker, begin);
    return;
  }
  const int64_t first = begin;
  int64_t items = loop.block_items.load(std::memory_order_relaxed);
  Clock::time_point start = Clock::now();
  while (begin < end && loop.interrupt.load(std::memory_order_relaxed) == StatusCode::kOk) {
    const int64_t block_end = begin + std::min(items, end - begin);
    loop.kernel(loop.buffers, loop.params, begin, block_end, worker, first);
    const Clock::time_point now = Clock::now();
    if (const StatusCode code = interrupt(loop.options); code != StatusCode::kOk)
      loop.interrupt.store(code, std::memory_order_relaxed);
    // The last block of a range can be too short to measure.
    if (block_end - begin == items) items = next_block(items, loop.grain, now - start);
    begin = block_end;
    start = now;
  }
  loop.block_items.store(items, std::memory_order_relaxed);
}

}  // namespace

bool Interpreter::fail_for_interrupt(StatusCode code) {
  status_ = interrupt_status(code);
  return false;
}

bool Interpreter::launch_in_blocks(const format::LaunchDecl& launch, int64_t grid, int64_t grain) {
  BlockLoop loop{kernels_[launch.kernel], frame_.buffers, frame_.slots + launch.params.value, grain,
                 options_};
  // A single task runs on this thread, because a hand-over to another thread would take longer than
  // a small kernel.
  if (session_.threads() == 1 || grid <= grain)
    run_blocks(&loop, 0, grid, 0);
  else
    run_parallel(grid, grain, run_blocks, &loop);
  const StatusCode code = loop.interrupt.load(std::memory_order_relaxed);
  return code == StatusCode::kOk || fail_for_interrupt(code);
}

}  // namespace scopevm::vm
