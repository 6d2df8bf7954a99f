// The sessions of a job's ranks in one process.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "scopevm/session.h"
#include "tests/ranks/local_transport.h"

namespace scopevm {

class LocalRanks {
 public:
  // Starts a session for each rank; the others than 0 follow on threads of their own.
  // `prepare` is called with each session before its first request. `traces`: of other ranks, from
  // rank 1.
  LocalRanks(const Module& module, int ranks, int64_t eager_bytes = 64,
             const std::function<SessionOptions(int rank)>& options = {},
             const std::function<void(int rank, const Session&)>& prepare = {},
             const std::vector<TraceSink*>& traces = {})
      : job_(ranks, eager_bytes), followed_(static_cast<size_t>(ranks)) {
    for (int rank = 1; rank < ranks; ++rank)
      threads_.emplace_back([this, rank, module, options, prepare, traces] {
        SessionOptions own = options ? options(rank) : SessionOptions();
        own.transport = job_.transport(rank);
        const Result<Session> session = Session::create(module, own);
        if (session.ok() && prepare) prepare(rank, *session);
        const auto index = static_cast<size_t>(rank);
        TraceSink* const trace = traces.empty() ? nullptr : traces[index - 1];
        followed_[index] = session.ok() ? session->follow(trace) : session.status();
      });
    SessionOptions own = options ? options(0) : SessionOptions();
    own.transport = job_.transport(0);
    leader_.emplace(Session::create(module, own));
    if (leader_->ok() && prepare) prepare(0, **leader_);
  }
  ~LocalRanks() { (void)finish(); }
  LocalRanks(const LocalRanks&) = delete;
  LocalRanks& operator=(const LocalRanks&) = delete;

  // The session of rank 0.
  const Result<Session>& leader() const { return *leader_; }
  LocalJob& job() { return job_; }
  // Releases the session of rank 0 and returns what follow() of the others has returned, by rank.
  const std::vector<Status>& finish() {
    leader_.reset();
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
    return followed_;
  }

 private:
  LocalJob job_;
  std::vector<Status> followed_;
  std::vector<std::thread> threads_;
  std::optional<Result<Session>> leader_;
};

}  // namespace scopevm
