// Interrupts (the deadline and the cancel flag of a call), and launches of CPU kernels in blocks of
// work items, between which interrupts are checked. The results of a kernel do not depend on the
// ranges in which its items run.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <ctime>
#include <limits>

#include "vm/run/interpreter/interpreter_class.h"

namespace scopevm::vm {
namespace {

namespace op = isa::op;

// Each block repeats the work that its kernel does once per range, such as packing the rows of a
// matrix. Blocks grow to kShortBlock, and further, to about twice kLongBlock, as long as doubling a
// block saves at least 1/kSaving of the time per item.
constexpr std::chrono::microseconds kShortBlock{250};
constexpr std::chrono::milliseconds kLongBlock{5};
constexpr double kSaving = 16;

// The CPU time of this thread. Unlike elapsed time, it does not depend on other threads.
std::chrono::nanoseconds thread_time() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

// Determines the number of items per block from the measured times of blocks.
class BlockSize {
 public:
  explicit BlockSize(int64_t items) : items_(items) {}
  int64_t items() const { return items_; }

  // Adds the time of a block of `items` items.
  void note(int64_t items, std::chrono::nanoseconds time) {
    const double cost = static_cast<double>(time.count()) / static_cast<double>(items);
    const bool saves = cost < last_cost_ * (1 - 1 / kSaving);
    last_cost_ = cost;
    if (time < kShortBlock || (saves && !is_settled_ && time < kLongBlock)) {
      items_ = std::min(items_, std::numeric_limits<int64_t>::max() / 2) * 2;
      return;
    }
    // The last doubling saved too little, or the block is too long.
    if ((!is_settled_ && !saves && time > 2 * kShortBlock) || time > 2 * kLongBlock)
      items_ = std::max<int64_t>(items_ / 2, 1);
    is_settled_ = true;
  }

 private:
  int64_t items_;
  double last_cost_ = std::numeric_limits<double>::infinity();
  bool is_settled_ = false;  // true: longer blocks save too little time or are too long
};

// Returns kOk, kCancelled or kDeadlineExceeded.
StatusCode current_interrupt(const CallOptions& options) {
  // Relaxed: the flag publishes no other data.
  if (options.cancel != nullptr && options.cancel->load(std::memory_order_relaxed))
    return StatusCode::kCancelled;
  return options.deadline && std::chrono::steady_clock::now() >= *options.deadline
             ? StatusCode::kDeadlineExceeded
             : StatusCode::kOk;
}

Status interrupt_status(StatusCode code) {
  if (code == StatusCode::kOk) return {};
  return {code,
          code == StatusCode::kCancelled ? "the call was cancelled" : "the call's deadline passed"};
}

// A parallel loop whose ranges run in blocks.
struct BlockLoop {
  KernelFn kernel;
  void* const* buffers;
  const int64_t* params;
  std::atomic<int64_t> first_block;  // the number of items in the first block of a range
  const CallOptions& options;
  std::atomic<StatusCode> interrupt{StatusCode::kOk};  // ends the loop
};

void run_range(void* context, int64_t begin, int64_t end, int64_t worker) {
  auto& loop = *static_cast<BlockLoop*>(context);
  BlockSize size(loop.first_block.load(std::memory_order_relaxed));
  std::chrono::nanoseconds start = thread_time();
  while (begin < end && loop.interrupt.load(std::memory_order_relaxed) == StatusCode::kOk) {
    const int64_t items = std::min(size.items(), end - begin);
    loop.kernel(loop.buffers, loop.params, begin, begin + items, worker);
    begin += items;
    if (const StatusCode code = current_interrupt(loop.options); code != StatusCode::kOk)
      loop.interrupt.store(code, std::memory_order_relaxed);
    const std::chrono::nanoseconds now = thread_time();
    // The last block of a range can be too short to measure.
    if (items == size.items()) size.note(items, now - start);
    start = now;
  }
  loop.first_block.store(size.items(), std::memory_order_relaxed);
}

}  // namespace

bool Interpreter::check_interrupts() {
  status_ = interrupt_status(current_interrupt(options_));
  return status_.ok();
}

bool Interpreter::launch_in_blocks(const op::launch& in, int64_t grid, int64_t grain) {
  BlockLoop loop{kernels_[in.kernel.value], frame_.buffers, frame_.slots + in.params.value, grain,
                 options_};
  if (session_.threads() == 1)
    run_range(&loop, 0, grid, 0);
  else
    session_.executor().parallel_for(grid, grain, run_range, &loop);
  status_ = interrupt_status(loop.interrupt);
  return status_.ok();
}

}  // namespace scopevm::vm
