// The default executor: a oneTBB task arena. No other file includes TBB.
#include "runtime/cpu/parallel.h"

#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>
#include <tbb/task_scheduler_observer.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <latch>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "runtime/cpu/sanitizer_order.h"
#include "runtime/log.h"
#include "runtime/process/available_cpus.h"

#ifdef SCOPEVM_THREAD_SANITIZER
// Suppresses reports inside TBB, whose synchronisation ThreadSanitizer cannot see.
extern "C" const char* __tsan_default_suppressions() {
  return "race:tbb::detail\ncalled_from_lib:libtbb.so\n";
}
#endif

namespace scopevm {

namespace runtime {
namespace {

// With several tasks per worker, one slow core delays the loop less. The number is small because
// starting the tasks must not take more than about a microsecond.
constexpr int64_t kTasksPerWorker = 4;

// The number of threads, up to `count`, that the system can start now. TBB ends the process if one
// of its threads cannot start.
int count_startable(int count) {
  // Threads are started and ended once per process, and not by each session.
  static std::mutex mutex;
  static int known = 0;
  std::lock_guard lock(mutex);
  if (count <= known) return count;
  std::latch counted(1);
  std::vector<std::jthread> threads;
  try {
    while (static_cast<int>(threads.size()) < count)
      threads.emplace_back([&counted] { counted.wait(); });
  } catch (const std::exception&) {
    // The system limits the number of threads or the memory for their stacks.
    count = static_cast<int>(threads.size());
  }
  counted.count_down();
  known = std::max(known, count);
  return count;
}

// Binds the threads of TBB while they work in an arena. They can work in other arenas later.
class BoundThreads final : public tbb::task_scheduler_observer {
 public:
  BoundThreads(tbb::task_arena& arena, const CpuSet& cpus)
      : task_scheduler_observer(arena), cpus_(cpus) {
    sched_getaffinity(0, sizeof all_, &all_);
    observe(true);
  }
  ~BoundThreads() override { observe(false); }

 private:
  void on_scheduler_entry(bool is_worker) override {
    if (is_worker) cpus_.bind_thread();
  }
  void on_scheduler_exit(bool is_worker) override {
    if (is_worker) sched_setaffinity(0, sizeof all_, &all_);
  }

  const CpuSet cpus_;
  cpu_set_t all_{};
};

class ArenaExecutor final : public Executor {
 public:
  ArenaExecutor(int threads, const CpuSet& cpus)
      : threads_(threads), cpus_(cpus), running_(threads) {}

  int threads() const override { return threads_; }
  int running_threads() const noexcept override { return running_.load(std::memory_order_relaxed); }

  void parallel_for(int64_t total, int64_t grain, Body body, void* context) override {
    // Rounded down, so that no task has fewer items than the grain.
    const int64_t max_tasks = total / std::max<int64_t>(grain, 1);
    const int64_t tasks = std::min(max_tasks, threads_ * kTasksPerWorker);
    if (threads_ == 1 || tasks <= 1) {
      if (total > 0) body(context, 0, total, 0);
      return;
    }
    // The arena is created on first use, so that a session with only small loops starts no threads.
    std::call_once(arena_once_, [this] { start(); });
    char start = 0;
    char end_of_loop = 0;
    happens_before(&start);
    arena_->execute([&] {
      tbb::parallel_for(
          int64_t{0}, tasks,
          [&](int64_t task) {
            const int64_t begin = split(total, task, tasks);
            const int64_t end = split(total, task + 1, tasks);
            happens_after(&start);
            // Kernels use the index to address their scratch memory. It is below threads_ and
            // unique among the threads of the arena.
            body(context, begin, end, tbb::this_task_arena::current_thread_index());
            happens_before(&end_of_loop);
          },
          // Makes one TBB task per index, because split() already determines the sizes of tasks.
          tbb::simple_partitioner());
    });
    happens_after(&end_of_loop);
  }

 private:
  // TBB limits the workers to one per core by default. Raise the limit if more were requested.
  void start() {
    // With fewer threads than requested, a loop takes longer and has the same result.
    const int threads = 1 + count_startable(threads_ - 1);
    const size_t allowed =
        tbb::global_control::active_value(tbb::global_control::max_allowed_parallelism);
    if (allowed < static_cast<size_t>(threads))
      limit_.emplace(tbb::global_control::max_allowed_parallelism, static_cast<size_t>(threads));
    arena_.emplace(threads);
    if (!cpus_.is_all()) bound_.emplace(*arena_, cpus_);
    running_ = threads;
    if (threads < threads_ && is_logged(LogSeverity::kWarning))
      log(LogSeverity::kWarning, "the system could start " + std::to_string(threads) + " of " +
                                     std::to_string(threads_) + " threads");
  }

  // Returns the first item of task number `task` of `tasks`. Task sizes differ by at most one item.
  static int64_t split(int64_t total, int64_t task, int64_t tasks) {
    const int64_t each = total / tasks;
    return task * each + std::min(task, total % tasks);
  }

  const int threads_;
  const CpuSet cpus_;
  std::atomic<int> running_;
  std::once_flag arena_once_;
  std::optional<tbb::global_control> limit_;
  std::optional<tbb::task_arena> arena_;
  std::optional<BoundThreads> bound_;  // observes arena_
};

}  // namespace

std::unique_ptr<Executor> make_default_executor(int threads, const CpuSet& cpus) {
  if (threads <= 0) threads = available_cpus();
  return std::make_unique<ArenaExecutor>(threads, cpus);
}

}  // namespace runtime
}  // namespace scopevm
