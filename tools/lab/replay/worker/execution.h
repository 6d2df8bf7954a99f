// Executes a schedule with a target, and measures it.
#pragma once

#include <pthread.h>
#include <sys/mman.h>

#include <atomic>
#include <ctime>
#include <thread>
#include <utility>
#include <vector>

#include "tools/lab/replay/worker/latency.h"
#include "tools/lab/replay/worker/resident_memory.h"
#include "tools/lab/replay/worker/schedule.h"
#include "tools/lab/replay/worker/target.h"
#include "tools/lab/replay/worker/worker.h"
#include "tools/scopevm_record/ticks.h"

namespace scopevm::lab {

// Memory of the operating system, populated and zero. Never released: the worker ends first.
template <typename T>
T* map_array(size_t count) {
  void* mapped = mmap(nullptr, count * sizeof(T) + 1, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  return mapped == MAP_FAILED ? nullptr : static_cast<T*>(mapped);
}

// The measurements of one thread.
struct ThreadResult {
  LatencyHistogram latencies[3];  // by EventKind
  uint64_t touch_ticks = 0;
  uint64_t failures = 0;
  uint64_t cpu_ns = 0;  // without the reads of the clock

  void merge(const ThreadResult& other) {
    for (int kind = 0; kind < 3; ++kind) latencies[kind].merge(other.latencies[kind]);
    touch_ticks += other.touch_ticks;
    failures += other.failures;
    cpu_ns += other.cpu_ns;
  }
};

// CPU time of the calling thread.
inline uint64_t thread_cpu_ns() {
  timespec now = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1000000000 + static_cast<uint64_t>(now.tv_nsec);
}

template <typename Target>
class Execution {
 public:
  Execution(Target target, const Schedule& schedule, const ReplayOptions& options,
            double ticks_per_ns, ReplayMeasurement& out)
      : target_(std::move(target)),
        schedule_(schedule),
        options_(options),
        ticks_per_ns_(ticks_per_ns),
        out_(out),
        interval_(schedule.operations / kMemorySamples + 1),
        slots_(map_array<Slot>(schedule.slots)),
        steps_(map_array<std::atomic<uint32_t>>(schedule.slots)),
        // A trace without events has no threads; run() returns the first result.
        results_(map_array<ThreadResult>(
            options.has_threads ? std::max<uint32_t>(1, schedule.threads) : 1)),
        clock_ticks_(clock_cost()) {}

  bool has_memory() const { return slots_ != nullptr && steps_ != nullptr && results_ != nullptr; }

  // Returns the sum of the threads' results.
  ThreadResult run() {
    deadline_ =
        record::now_ticks() + static_cast<uint64_t>(options_.time_limit_s * 1e9 * ticks_per_ns_);
    baseline_ = memory_.read();
    if (options_.has_threads)
      run_threads();
    else
      run_thread(0, [](const Operation&) { return true; });
    ThreadResult& sum = results_[0];
    for (uint32_t i = 1; options_.has_threads && i < schedule_.threads; ++i) sum.merge(results_[i]);
    out_.peak_resident = peak_;
    return sum;
  }

 private:
  static constexpr uint64_t kPage = 4096;

  // The ticks between two reads of the clock without work in between.
  static uint64_t clock_cost() {
    uint64_t least = ~uint64_t{0};
    for (int i = 0; i < 1000; ++i) {
      const uint64_t start = record::now_ticks();
      least = std::min(least, record::now_ticks() - start);
    }
    return least;
  }

  void run_threads() {
    std::vector<std::thread> threads;
    for (uint32_t i = 0; i < schedule_.threads; ++i)
      threads.emplace_back([this, i] {
        run_thread(i, [i](const Operation& operation) { return operation.thread == i; });
      });
    for (std::thread& thread : threads) thread.join();
  }

  template <typename Filter>
  void run_thread(uint32_t thread, Filter is_included) {
    const uint64_t start = thread_cpu_ns();
    run_operations(thread, is_included);
    const uint64_t elapsed = thread_cpu_ns() - start;
    ThreadResult& result = results_[thread];
    uint64_t clock_ticks = 0;
    for (const LatencyHistogram& latencies : result.latencies)
      clock_ticks += latencies.count() * (options_.touches_pages ? 4 : 2) * clock_ticks_;
    const auto clock_ns = static_cast<uint64_t>(static_cast<double>(clock_ticks) / ticks_per_ns_);
    result.cpu_ns = elapsed > clock_ns ? elapsed - clock_ns : 0;
  }

  template <typename Filter>
  void run_operations(uint32_t thread, Filter is_included) {
    const Operation* operations = schedule_.begin();
    for (uint64_t i = 0; i < schedule_.operations; ++i) {
      const Operation& operation = operations[i];
      if (!is_included(operation)) continue;
      if (options_.has_threads && !wait_for_turn(operation)) return;
      execute(operation, results_[thread]);
      if (options_.has_threads)
        steps_[operation.slot].store(operation.step + 1, std::memory_order_release);
      if (i == schedule_.peak_operation) observe_peak();
      if (i % interval_ == 0) out_.resident[i / interval_] = observe_resident();
      if (i % 1024 == 0 && record::now_ticks() > deadline_) return;
    }
  }

  // Waits for the previous operation on the block, which another thread can execute. Returns false
  // after the deadline.
  bool wait_for_turn(const Operation& operation) {
    while (steps_[operation.slot].load(std::memory_order_acquire) != operation.step) {
      if (record::now_ticks() > deadline_) return false;
      std::this_thread::yield();
    }
    return true;
  }

  void execute(const Operation& operation, ThreadResult& result) {
    Slot& slot = slots_[operation.slot];
    void* block = nullptr;
    const uint64_t start = record::now_ticks();
    switch (operation.kind) {
      case EventKind::kAllocate:
        block = target_.allocate(operation);
        break;
      case EventKind::kRelease:
        target_.release(operation, slot);
        break;
      case EventKind::kReallocate:
        block = target_.reallocate(operation, slot);
        break;
    }
    const uint64_t ticks = record::now_ticks() - start;
    result.latencies[static_cast<int>(operation.kind)].add(
        ticks > clock_ticks_ ? ticks - clock_ticks_ : 0);
    const uint64_t kept = operation.kind == EventKind::kReallocate ? slot.size : 0;
    slot = {block, block == nullptr ? 0 : operation.size};
    if (operation.kind == EventKind::kRelease) return;
    if (block == nullptr && operation.size > 0) ++result.failures;
    if (options_.touches_pages && block != nullptr) touch(slot, kept, result);
  }

  // Writes to each page of the block after its first `kept` bytes.
  static void touch(const Slot& slot, uint64_t kept, ThreadResult& result) {
    const uint64_t start = record::now_ticks();
    auto* bytes = static_cast<volatile char*>(slot.block);
    for (uint64_t at = kept; at < slot.size; at = (at / kPage + 1) * kPage) bytes[at] = 1;
    result.touch_ticks += record::now_ticks() - start;
  }

  // Returns the resident memory above that before the replay, in bytes.
  uint64_t observe_resident() {
    const uint64_t resident = memory_.read();
    const uint64_t grown = resident > baseline_ ? resident - baseline_ : 0;
    uint64_t peak = peak_.load();
    while (grown > peak && !peak_.compare_exchange_weak(peak, grown)) {
    }
    return grown;
  }

  void observe_peak() {
    const uint64_t grown = observe_resident();
    // Other threads change blocks meanwhile, so sums over all blocks would be wrong.
    if (options_.has_threads) return;
    out_.resident_at_peak = static_cast<int64_t>(grown);
    out_.usable_at_peak = target_.usable_bytes({slots_, static_cast<size_t>(schedule_.slots)});
  }

  Target target_;
  const Schedule& schedule_;
  const ReplayOptions options_;
  const double ticks_per_ns_;
  ReplayMeasurement& out_;
  const uint64_t interval_;
  Slot* const slots_;
  std::atomic<uint32_t>* const steps_;
  ThreadResult* const results_;
  const uint64_t clock_ticks_;
  const ResidentMemory memory_;
  uint64_t baseline_ = 0;
  std::atomic<uint64_t> peak_{0};
  uint64_t deadline_ = 0;
};

}  // namespace scopevm::lab
