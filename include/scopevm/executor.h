/// @file
/// Executor: runs the parallel loops of kernels. By default each session has its own oneTBB task
/// arena. An embedder can supply an executor (SessionOptions::executor), for instance to share a
/// thread pool.
#pragma once

#include <cstdint>

namespace scopevm {

/// Thread-safety: implementations must allow concurrent calls of parallel_for.
class Executor {
 public:
  /// Runs work items [begin, end) on behalf of worker `worker`.
  using Body = void (*)(void* context, int64_t begin, int64_t end, int64_t worker);

  Executor() = default;
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;
  virtual ~Executor() = default;

  /// The number of workers, at least 1. Constant during the executor's lifetime.
  virtual int threads() const = 0;

  /// The number of threads that run loops: fewer than threads() if the system could not start all
  /// of them. The default executor starts its threads in the first loop that needs them.
  virtual int running_threads() const noexcept { return threads(); }

  /// Calls `body` with `context` on disjoint ranges that cover [0, total). Returns when all these
  /// calls have returned. `total` and `grain` are at least 1. Every range has at least `grain`
  /// items, except the last one. `worker` is in [0, threads()); concurrent calls of `body` in one
  /// parallel_for have different workers.
  virtual void parallel_for(int64_t total, int64_t grain, Body body, void* context) = 0;
};

}  // namespace scopevm
