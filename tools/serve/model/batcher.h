// Joins requests into one call along a dimension whose rows the model computes independently of
// each other. A request runs at once while fewer calls run than the
// server has workers. Requests that come meanwhile wait, and run together when a call has ended:
// joining costs no time while the server is not busy. BatchSize limits the size of a call.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "scopevm/call.h"
#include "scopevm/module.h"
#include "scopevm/session.h"
#include "scopevm/status.h"
#include "tools/serve/model/batch_axes.h"
#include "tools/serve/model/batch_size.h"

namespace scopevm::serve {

class Inference;

// Thread-safe.
class Batcher {
 public:
  // `max_rows` is the greatest size of the dimension in a call, `max_calls` the number of calls
  // that run at the same time.
  Batcher(Session session, BatchAxes axes, int64_t max_rows, int max_calls)
      : session_(std::move(session)),
        axes_(std::move(axes)),
        max_rows_(max_rows),
        max_calls_(max_calls),
        size_(max_rows) {}

  const BatchAxes& axes() const { return axes_; }

  // Runs a request whose inputs are set, alone or with others.
  void add(std::shared_ptr<Inference> request);

  // Calls since the start: each is one execution of the model.
  int64_t executions() const { return executions_; }

 private:
  using Members = std::vector<std::shared_ptr<Inference>>;
  struct Group {
    int64_t rows = 0;
    Members members;
  };
  struct Batch;

  // Each returns whether a call runs, which calls call_ended() at its end.
  bool run(Members members);
  bool run_alone(const std::shared_ptr<Inference>& member);
  bool run_each(const Members& members);
  Status start(const std::shared_ptr<Batch>& batch);
  void end(const std::shared_ptr<Batch>& batch, const Status& status);
  void call_ended();
  // Takes the first requests that wait for one call. Needs mutex_, and requests that wait.
  Members take();

  const Session session_;
  const BatchAxes axes_;
  const int64_t max_rows_;
  const int max_calls_;
  std::mutex mutex_;
  std::deque<Group> waiting_;  // the oldest first
  int running_ = 0;
  BatchSize size_;
  std::atomic<int64_t> executions_{0};
};

}  // namespace scopevm::serve
