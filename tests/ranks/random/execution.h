// Execution: a module in one process or in a job of ranks, with a call that is used again.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "scopevm/module.h"
#include "scopevm/session.h"
#include "scopevm/state.h"
#include "tests/ranks/local_ranks.h"
#include "tests/ranks/random/random.h"
#include "tests/runtime/memory/failing_allocator.h"

namespace scopevm::ranks {

// The inputs of a call that no state has, by name.
using Inputs = std::map<std::string, Tensor>;

class Execution {
 public:
  struct Options {
    bool is_job = false;
    int threads = 1;
    int64_t eager_bytes = 64;
  };
  // Aborts if no session can be created.
  Execution(Module module, const Options& options);

  const Module& module() const { return module_; }
  const Session& session() const { return *session_; }
  // Creates the call again before the next run.
  void renew_call() { call_.reset(); }
  Status run(const State& state, const Inputs& inputs, const CallOptions& options,
             bool is_cancelled);
  // Of the last run.
  const Call& call() const { return *call_; }

  // An allocation of a random rank fails; see FailingAllocator::fail_at(). 0: none.
  void fail_at(int64_t nth, Random& random);
  // The live bytes of all ranks, by pool, without those that sessions keep for later calls.
  // REQUIRES: no request runs.
  std::vector<std::string> live_bytes() const;
  // Ends the job. Returns what is wrong; empty: nothing.
  std::string finish();

 private:
  bool has_all_ranks() const;
  SessionOptions options_of_rank(int rank, int threads);

  const Module module_;
  std::unique_ptr<LocalRanks> ranks_;  // outlives the sessions and allocators
  mutable std::mutex mutex_;
  // By rank and pool.
  std::map<std::string, std::shared_ptr<runtime::FailingAllocator>> allocators_;
  std::vector<std::optional<Session>> others_;  // by rank
  std::optional<Session> session_;
  std::optional<Call> call_;
};

}  // namespace scopevm::ranks
