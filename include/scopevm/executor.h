// Executor: runs the loops of kernels on several threads. The default one is a task arena of its
// own per session; an embedder may supply another (SessionOptions::executor), for instance to share
// its own thread pool.
#pragma once

#include <cstdint>

#include "scopevm/export.h"

namespace scopevm {

// Thread-safety: implementations must allow concurrent calls of parallel_for.
class SCOPEVM_API Executor {
 public:
  // Runs items [begin, end) as worker `worker`.
  using Body = void (*)(void* context, int64_t begin, int64_t end, int64_t worker);

  Executor() = default;
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;
  virtual ~Executor();

  // The number of workers; fixed for the life of the executor, at least 1.
  virtual int threads() const = 0;

  // Calls `body` on disjoint ranges that cover [0, total), and returns when all have run. Ranges
  // are at least `grain` items long, except where the end is nearer. `worker` is in [0, threads());
  // no two bodies of one parallel_for run at the same time with the same worker.
  virtual void parallel_for(int64_t total, int64_t grain, Body body, void* context) = 0;
};

}  // namespace scopevm
