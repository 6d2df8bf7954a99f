// CallScheduler: the implementation of Scheduler. Workers run the requests that the ledger admits:
// a request that can wait on a fiber, so that its worker runs other requests in the meantime. One
// more thread ends waiting requests at their deadlines, and the sleep of fibers.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "runtime/memory/scope_memory.h"
#include "runtime/process/cpu_set.h"
#include "scopevm/scheduler.h"
#include "scopevm/status.h"
#include "vm/run/admission/ledger.h"
#include "vm/run/admission/queue.h"
#include "vm/run/fiber/call_fiber.h"

namespace scopevm::vm {

// What the scheduler does with a request.
class ScheduledRequest {
 public:
  ScheduledRequest() = default;
  ScheduledRequest(const ScheduledRequest&) = delete;
  ScheduledRequest& operator=(const ScheduledRequest&) = delete;
  virtual ~ScheduledRequest() = default;
  // What a run needs; constant until the end.
  virtual std::span<const Need> needs() const = 0;
  // Whether run() can wait for events. Constant until the end.
  virtual bool can_wait() const = 0;
  // The needs were reserved: the request waits for a worker now. Called with a mutex of the
  // scheduler. Does not throw.
  virtual void admitted() {}
  // Runs the request on a worker. Its needs are reserved until CallScheduler::end(). `fiber` runs
  // this, or is null: then the request blocks the worker while it waits.
  virtual void run(CallFiber* fiber) = 0;
  // The request ends without a run. Called on any thread, without locks of the scheduler.
  virtual void refuse(const Status& status) = 0;
  // Whether the request must end: CallScheduler::cancel() follows, or its flag is set. Thread-safe.
  virtual bool is_cancelled() const = 0;
  // Whether the program can set a flag at any time, so that is_cancelled() must be polled. Constant
  // until the end.
  virtual bool has_cancel_flag() const { return false; }

 private:
  friend class CallScheduler;
  void* job_ = nullptr;  // a CallScheduler::Job while the request waits; guarded by its mutex
};

class CallScheduler {
 public:
  using Time = AdmissionQueue::Time;

  // The scheduler stops when the last copy of the returned pointer is destroyed, on any thread.
  // Until then, requests must not outlive it.
  static Result<std::shared_ptr<CallScheduler>> create(SchedulerOptions options);
  ~CallScheduler();
  CallScheduler(const CallScheduler&) = delete;
  CallScheduler& operator=(const CallScheduler&) = delete;

  // The pool at this index of SchedulerStats::pools.
  const std::string& pool_name(size_t index) const { return ledger_.pools()[index].name; }
  std::optional<uint32_t> find_pool(std::string_view name) const { return ledger_.find(name); }
  // Adds the memory of a session in a pool. Returns its number, for Need::user.
  uint32_t add_user(uint32_t pool, const std::shared_ptr<runtime::ScopeMemory>& memory);
  // Queues a request, which ends with one call of run() or refuse(), unless this fails. If
  // `can_run_here`, a request that cannot wait runs on this thread if a worker could run it at
  // once. Errors: kResourceLimit (the needs exceed a capacity, or too many requests wait),
  // kOutOfMemory.
  Status submit(std::shared_ptr<ScheduledRequest> request, int priority,
                std::optional<Time> deadline, bool can_run_here = false);
  // Refuses the request with kCancelled if it has not started. A request whose is_cancelled() is
  // true before submit() is refused there.
  void cancel(ScheduledRequest* request);
  // Ends the reservation of a request that ran: see Ledger::end().
  void end(std::span<const Need> needs);
  // Holds memory of a session, such as its constants, until release(). `what`: for messages.
  // Errors: kResourceLimit (no room in one of these different pools).
  Status hold(std::span<const Need> needs, std::string_view what);
  // Memory of hold(), or a held result, was released.
  void release(const Need& need);

  SchedulerStats stats() const;
  int workers() const { return options_.workers; }
  const runtime::CpuSet& cpus() const { return cpus_; }
  // The calls that share the processors now, at least 1: those that run or are ready, at most one
  // per worker. Calls that wait for events do not count.
  int active_calls() const {
    return std::clamp(busy_.load(std::memory_order_relaxed), 1, options_.workers);
  }
  // Whether this is a thread of the scheduler, which must not wait for a request.
  bool is_own_thread() const;
  // Continues one fiber whose wait has ended, on this thread; false: there is none. For a thread of
  // the scheduler that waits for what such a request has.
  bool run_woken();

 private:
  struct Job;
  using Jobs = std::list<Job>;
  using Deadlines = std::set<std::pair<Time, Job*>>;
  struct Job {
    std::shared_ptr<ScheduledRequest> request;
    bool is_ready = false;  // in ready_, else in waiting_
    Jobs::iterator self;
    Time place;                        // as in AdmissionQueue: the earliest is the first
    std::optional<Time> deadline;      // of a ready job: also in deadlines_of_ready_
    Deadlines::node_type of_deadline;  // for that, so that admission allocates nothing
  };

  // A fiber and the request that it runs.
  class RequestFiber;

  CallScheduler(SchedulerOptions options, const runtime::CpuSet& cpus,
                std::vector<Ledger::Pool> pools);
  Status start(const std::shared_ptr<CallScheduler>& self);
  // Ends the threads. They share the ownership of the scheduler, because the last copy of the
  // public pointer can be destroyed by a request on a worker.
  void stop();
  void work();
  void watch_deadlines();
  // Makes is_own_thread() true on this thread.
  void enter_thread() const;
  // Runs the first ready request on a thread that is not a worker.
  void run_here(std::unique_lock<std::mutex>& lock);
  // Called by RequestFiber.
  void wake(RequestFiber& fiber);
  void wake_at(Time time, RequestFiber& fiber);
  // Makes a fiber ready, whose sleep or wait has ended.
  void push_woken(RequestFiber& fiber);
  // Makes the fibers ready whose sleep has ended.
  void wake_sleepers();
  // Continues the first fiber that is ready. REQUIRES: there is one.
  void run_first_woken(std::unique_lock<std::mutex>& lock);
  // Starts the first ready request, or continues a fiber. `lock` locks mutex_ before and after.
  void start_request(std::unique_lock<std::mutex>& lock);
  void run_fiber(RequestFiber& fiber, std::unique_lock<std::mutex>& lock);
  // A fiber that runs no request; null if the system has no memory for one.
  RequestFiber* take_fiber();
  void return_fiber(RequestFiber& fiber);
  // Returns the cached blocks of all sessions in the pools of the needs in which they could
  // otherwise occupy more bytes than the capacity. `lock` locks mutex_ before and after.
  void trim_caches(std::span<const Need> needs, std::unique_lock<std::mutex>& lock);
  // Returns when a worker has something to do. `lock` locks mutex_ before and after.
  void wait_for_work(std::unique_lock<std::mutex>& lock);
  // Whether a worker can start the first ready request.
  bool can_start() const;
  // The earliest deadline, end of a sleep or look at the cancel flags.
  std::optional<Time> next_time() const;
  // Removes a request whose deadline has passed before it started; null if there is none.
  std::shared_ptr<ScheduledRequest> take_late();
  // Removes a waiting request whose flag is set; null if there is none.
  std::shared_ptr<ScheduledRequest> take_cancelled();
  // The functions below need mutex_. Moves the jobs that can be admitted to ready_, and wakes a
  // worker for each except `own`. Does not throw.
  void admit(const Job* own = nullptr);
  // The position of a job in ready_.
  Jobs::iterator position(Time place);
  // Takes a job from its list.
  std::shared_ptr<ScheduledRequest> take(Job& job);
  // Takes a job that has not started, and ends its waiting or its reservation.
  std::shared_ptr<ScheduledRequest> drop(Job& job);

  const SchedulerOptions options_;
  const runtime::CpuSet cpus_;
  mutable std::mutex mutex_;  // guards the members below, except the threads
  Ledger ledger_;
  // By pool and number of the user; the first is empty. A number is used again when the memory of a
  // session does not exist any more.
  std::vector<std::vector<std::weak_ptr<runtime::ScopeMemory>>> memories_;
  AdmissionQueue queue_;
  Jobs waiting_;  // for memory
  Jobs ready_;    // for a worker, in the order of their places
  Deadlines deadlines_of_ready_;
  size_t running_ = 0;
  std::atomic<int> busy_{0};  // requests that run or are ready; written with mutex_
  // Ready requests, woken fibers, and 1 if is_stopping_; written with mutex_.
  std::atomic<int> pending_{0};
  // Fibers that a worker can continue: a list, first in, first out.
  RequestFiber* first_woken_ = nullptr;
  RequestFiber* last_woken_ = nullptr;
  std::multimap<Time, RequestFiber*> sleeping_;
  std::vector<std::unique_ptr<RequestFiber>> spare_fibers_;
  size_t fibers_in_use_ = 0;
  bool is_stopping_ = false;
  std::condition_variable work_;       // ready_, the woken fibers or is_stopping_ changed
  size_t flags_ = 0;                   // waiting requests with a cancel flag
  Time next_poll_;                     // of these flags
  std::condition_variable deadlines_;  // the earliest deadline or sleep, or is_stopping_ changed
  std::vector<std::thread> threads_;   // the workers, and then the one that watches deadlines
};

}  // namespace scopevm::vm
