// Runs traces and reads the clocks and counters of the process; see measure.h.
#include "bench/memory/measure.h"

#include <sys/resource.h>
#include <time.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "scopevm/allocators.h"

namespace scopevm::bench {
namespace {

constexpr int64_t kPage = 4096;
constexpr int64_t kGroup = 16;            // pairs per sample of the percentiles
constexpr double kMinSeconds = 0.25;      // CPU time of a measurement
constexpr int64_t kRemotePairs = 400000;  // blocks that one thread passes to another

// The C library's allocator, or the one that LD_PRELOAD has put in its place.
class SystemAllocator final : public Allocator {
 public:
  void* allocate(int64_t bytes) override {
    const int64_t rounded = (bytes + kBlockAlignment - 1) / kBlockAlignment * kBlockAlignment;
    return std::aligned_alloc(kBlockAlignment, static_cast<size_t>(rounded));
  }
  void deallocate(void* block, int64_t /*bytes*/) override { std::free(block); }
  AllocatorStats stats() const override { return {}; }
  void trim() override {}
};

// The cost of the driver alone: its blocks have no memory.
class EmptyAllocator final : public Allocator {
 public:
  void* allocate(int64_t /*bytes*/) override { return this; }
  void deallocate(void* /*block*/, int64_t /*bytes*/) override {}
  AllocatorStats stats() const override { return {}; }
  void trim() override {}
};

double seconds(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

// A field of /proc/self/status in bytes.
int64_t status_bytes(const std::string& field) {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with(field + ":")) return std::atoll(line.c_str() + field.size() + 1) * 1024;
  return 0;
}

int64_t page_faults() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_minflt;
}

void touch(void* block, int64_t bytes) {
  auto* data = static_cast<volatile char*>(block);
  for (int64_t i = 0; i < bytes; i += kPage) data[i] = 1;
  if (bytes > 0) data[bytes - 1] = 1;
}

struct Block {
  void* data;
  int64_t bytes;
};

// Runs the trace once. Appends the elapsed time of each group of pairs, if `samples` is not null.
template <bool kTouch>
void run(Allocator& allocator, const Trace& trace, std::vector<Block>& blocks,
         std::vector<float>* samples) {
  auto start = std::chrono::steady_clock::now();
  int64_t ops = 0;
  for (const TraceOp& op : trace.ops) {
    Block& block = blocks[op.slot];
    if (op.bytes >= 0) {
      block = {allocator.allocate(op.bytes), op.bytes};
      if (block.data == nullptr) std::abort();
      if constexpr (kTouch) touch(block.data, op.bytes);
    } else {
      allocator.deallocate(block.data, block.bytes);
    }
    if (samples == nullptr || ++ops % (2 * kGroup) != 0) continue;
    const auto now = std::chrono::steady_clock::now();
    samples->push_back(std::chrono::duration<float, std::nano>(now - start).count() / kGroup);
    start = now;
  }
}

template <bool kTouch>
Measurement measure_alone(Allocator& allocator, const Trace& trace) {
  Measurement result;
  std::vector<Block> blocks(trace.slots);
  std::vector<float> samples;
  samples.reserve(trace.ops.size() / kGroup);
  const int64_t before = status_bytes("VmRSS");
  std::ofstream("/proc/self/clear_refs") << "5";  // resets VmHWM
  run<kTouch>(allocator, trace, blocks, nullptr);
  const int64_t peak = status_bytes("VmHWM") - before;
  result.rss_ratio = static_cast<double>(peak) / static_cast<double>(trace.peak_bytes);
  const int64_t faults = page_faults();
  int64_t pairs = 0;
  const double start = seconds(CLOCK_THREAD_CPUTIME_ID);
  double end = start;
  while (end - start < kMinSeconds) {
    run<kTouch>(allocator, trace, blocks, nullptr);
    pairs += trace.pairs;
    end = seconds(CLOCK_THREAD_CPUTIME_ID);
  }
  result.pair_ns = (end - start) * 1e9 / static_cast<double>(pairs);
  result.faults = static_cast<double>(page_faults() - faults) / static_cast<double>(pairs);
  run<kTouch>(allocator, trace, blocks, &samples);
  std::ranges::sort(samples);
  result.p50_ns = samples[samples.size() / 2];
  result.p99_ns = samples[samples.size() * 99 / 100];
  return result;
}

Measurement measure_two_threads(Allocator& allocator, const Trace& trace) {
  double times[2] = {};
  const auto body = [&](int index) {
    std::vector<Block> blocks(trace.slots);
    run<false>(allocator, trace, blocks, nullptr);
    const double start = seconds(CLOCK_THREAD_CPUTIME_ID);
    for (int i = 0; i < 4; ++i) run<false>(allocator, trace, blocks, nullptr);
    times[index] = seconds(CLOCK_THREAD_CPUTIME_ID) - start;
  };
  std::thread other(body, 1);
  body(0);
  other.join();
  return {.pair_ns = (times[0] + times[1]) / 2 * 1e9 / static_cast<double>(4 * trace.pairs)};
}

// The blocks of the trace pass through a ring from the thread that allocates to the one that
// deallocates. The time is the CPU time of both, without the time in which they wait.
Measurement measure_remote(Allocator& allocator, const Trace& trace) {
  constexpr int64_t kBatch = 256;
  std::vector<Block> batches[2] = {std::vector<Block>(kBatch), std::vector<Block>(kBatch)};
  std::atomic<int64_t> filled{0};
  std::atomic<int64_t> emptied{0};
  std::vector<int64_t> sizes;
  for (const TraceOp& op : trace.ops)
    if (op.bytes >= 0) sizes.push_back(op.bytes);
  double times[2] = {};
  std::thread other([&] {
    for (int64_t batch = 0; batch < kRemotePairs / kBatch; ++batch) {
      while (filled.load(std::memory_order_acquire) <= batch) std::this_thread::yield();
      const double start = seconds(CLOCK_THREAD_CPUTIME_ID);
      for (const Block& block : batches[batch % 2]) allocator.deallocate(block.data, block.bytes);
      times[1] += seconds(CLOCK_THREAD_CPUTIME_ID) - start;
      emptied.store(batch + 1, std::memory_order_release);
    }
  });
  for (int64_t batch = 0; batch < kRemotePairs / kBatch; ++batch) {
    while (emptied.load(std::memory_order_acquire) < batch - 1) std::this_thread::yield();
    const double start = seconds(CLOCK_THREAD_CPUTIME_ID);
    for (int64_t i = 0; i < kBatch; ++i) {
      const int64_t bytes = sizes[static_cast<size_t>(batch * kBatch + i) % sizes.size()];
      batches[batch % 2][static_cast<size_t>(i)] = {allocator.allocate(bytes), bytes};
    }
    times[0] += seconds(CLOCK_THREAD_CPUTIME_ID) - start;
    filled.store(batch + 1, std::memory_order_release);
  }
  other.join();
  return {.pair_ns = (times[0] + times[1]) * 1e9 / static_cast<double>(kRemotePairs)};
}

// A plan of the blocks until all are deallocated, which is the first request of `inference`. The
// parts do not overlap: offsets do not affect the time of an allocation.
std::vector<PlannedBlock> plan_of(const Trace& trace) {
  std::vector<PlannedBlock> plan;
  int64_t end = 0;
  int64_t live = 0;
  for (const TraceOp& op : trace.ops) {
    live += op.bytes >= 0 ? 1 : -1;
    if (live == 0) break;
    if (op.bytes < 0) continue;
    plan.push_back({end, op.bytes});
    end += (op.bytes + kBlockAlignment - 1) / kBlockAlignment * kBlockAlignment;
  }
  return plan;
}

std::shared_ptr<Allocator> make(const std::string& name, const Trace& trace) {
  if (name == "malloc") return std::make_shared<SystemAllocator>();
  if (name == "none") return std::make_shared<EmptyAllocator>();
  AllocatorOptions options;
  if (name == "planned") options.plan = plan_of(trace);
  Result<std::shared_ptr<Allocator>> made = make_allocator_from_text(name, std::move(options));
  if (made.ok()) return *made;
  std::fprintf(stderr, "%s\n", std::string(made.status().message()).c_str());
  std::exit(1);
}

}  // namespace

Measurement measure(const std::string& name, const Trace& trace, Work work) {
  const std::shared_ptr<Allocator> allocator = make(name, trace);
  switch (work) {
    case Work::kUntouched:
      return measure_alone<false>(*allocator, trace);
    case Work::kTouched:
      return measure_alone<true>(*allocator, trace);
    case Work::kTwoThreads:
      return measure_two_threads(*allocator, trace);
    case Work::kRemote:
      return measure_remote(*allocator, trace);
  }
  return {};
}

}  // namespace scopevm::bench
