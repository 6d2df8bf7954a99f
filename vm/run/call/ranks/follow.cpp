// See follow.h.
#include "vm/run/call/ranks/follow.h"

#include <condition_variable>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "runtime/without_exceptions.h"
#include "vm/run/call/bound_session.h"
#include "vm/run/call/ranks/shapes.h"
#include "vm/run/call/ranks/state_memory.h"
#include "vm/run/call/request.h"
#include "vm/run/ranks/pause.h"
#include "vm/run/ranks/rank_group.h"

namespace scopevm::vm {
namespace {

// `numbers`: those of numbers_of() after the task.
Status run_call(const std::shared_ptr<BoundSession>& session, std::span<const int64_t> numbers,
                const StateBlocks& states, TraceSink* trace, RankChannel& channel) {
  if (numbers.empty()) return invalid_task();
  CallOptions options;
  options.request_id = static_cast<uint64_t>(numbers.front());
  if (options.request_id != kNotTraced) options.trace = trace;
  const auto request = std::make_shared<Request>(session);
  request->channel_of_rank_0 = &channel;
  SCOPEVM_RETURN_IF_ERROR(set_shapes(numbers.subspan(1), states, *request));
  return request->run_here(options);
}

// The threads that run the requests of rank 0. One of them looks for the next request on all
// channels that have none, and runs it itself. Before it does so, it lets another thread look.
class Follower {
 public:
  Follower(const std::shared_ptr<BoundSession>& session, TraceSink* trace)
      : session_(session),
        ranks_(*session->ranks()),
        trace_(trace),
        states_(*session),
        has_request_(ranks_.channels()) {}

  // Returns when rank 0 has ended its session, or no request can run. Errors: RankGroup::health().
  Status run() {
    follow();
    threads_.clear();  // waits for them
    return ranks_.health();
  }

 private:
  // What a thread runs. An error of one ends all.
  void follow() {
    Status status = runtime::without_exceptions([this] { return follow_until_error(); });
    if (!status.ok()) (void)ranks_.fail(std::move(status));
    std::lock_guard lock(mutex_);
    is_over_ = true;
    is_changed_.notify_all();
  }

  Status follow_until_error() {
    std::unique_lock lock(mutex_);
    Pause pause;
    const std::thread::id self = std::this_thread::get_id();
    looking_ = self;
    while (!is_over_) {
      if (looking_ != self) {
        is_changed_.wait(lock, [this] { return is_over_ || looking_ == std::thread::id(); });
        looking_ = self;
        pause = {};
        continue;
      }
      SCOPEVM_ASSIGN_OR_RETURN(const std::optional<size_t> found, find_request());
      if (found) {
        looking_ = {};
        SCOPEVM_RETURN_IF_ERROR(let_another_look());
        has_request_[*found] = true;
        ++running_;
        lock.unlock();
        const Status status = run_request(ranks_.channel(*found));
        lock.lock();
        --running_;
        has_request_[*found] = false;
        SCOPEVM_RETURN_IF_ERROR(status);
        looking_ = self;
        pause = {};
      } else if (!is_over_) {
        lock.unlock();
        pause(ranks_.has_idle_cpu());
        lock.lock();
      }
    }
    return {};
  }

  // A channel with a request. Sets is_over_ if there will be none. REQUIRES: mutex_ is locked.
  Result<std::optional<size_t>> find_request() {
    bool is_over = true;
    for (size_t i = 0; i < has_request_.size(); ++i) {
      if (has_request_[i]) {
        is_over = false;
        continue;
      }
      RankChannel& channel = ranks_.channel(i);
      SCOPEVM_ASSIGN_OR_RETURN(const bool has_request, channel.has_request());
      if (has_request) return std::optional(i);
      is_over = is_over && channel.is_over();
    }
    is_over_ = is_over;
    if (is_over) is_changed_.notify_all();
    return std::optional<size_t>();
  }

  // REQUIRES: mutex_ is locked.
  Status let_another_look() {
    const size_t threads = threads_.size() + 1;
    if (running_ + 1 < threads)
      is_changed_.notify_one();
    else if (threads < has_request_.size())
      try {
        threads_.emplace_back([this] { follow(); });
      } catch (const std::system_error& error) {
        // Requests that have begun in different orders on two ranks would wait for each other.
        return {StatusCode::kResourceLimit,
                std::string("cannot start a thread for a request: ") + error.what()};
      }
    return {};
  }

  Status run_request(RankChannel& channel) {
    SCOPEVM_ASSIGN_OR_RETURN(const std::optional<RankChannel::Begun> begun, channel.next_request());
    if (!begun) return {};
    states_.release(begun->released);
    const std::span<const int64_t> numbers = begun->numbers;
    if (numbers.empty()) return invalid_task();
    const auto task = static_cast<RankTask>(numbers.front());
    // Rank 0 reports the errors of the request.
    const Status status = runtime::without_exceptions([&] {
      return task == RankTask::kCall
                 ? run_call(session_, numbers.subspan(1), states_, trace_, channel)
                 : states_.run(task, numbers.subspan(1), channel);
    });
    // A call ends itself, unless it has failed before its first instruction.
    if (channel.is_active()) (void)channel.end(status, {}, {});
    return ranks_.health();
  }

  const std::shared_ptr<BoundSession>& session_;
  RankGroup& ranks_;
  TraceSink* const trace_;
  StateBlocks states_;
  std::mutex mutex_;
  std::condition_variable is_changed_;
  std::vector<bool> has_request_;  // by channel; the channels with one are used by its thread
  std::thread::id looking_;        // none: the next thread will
  size_t running_ = 0;             // threads with a request
  bool is_over_ = false;
  std::vector<std::jthread> threads_;
};

}  // namespace

Status follow(const std::shared_ptr<BoundSession>& session, TraceSink* trace) {
  RankGroup* const ranks = session->ranks();
  if (ranks == nullptr || ranks->is_leader())
    return {StatusCode::kInvalidArgument, ranks == nullptr
                                              ? "the session has no transport: it has all ranks"
                                              : "this process is rank 0, which makes the calls"};
  return Follower(session, trace).run();
}

}  // namespace scopevm::vm
