// Queues, admits and runs requests; see call_scheduler.h.
#include "vm/run/admission/call_scheduler.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <system_error>
#include <utility>

#include "runtime/count_text.h"
#include "runtime/cpu/parallel.h"
#include "runtime/process/available_cpus.h"
#include "runtime/without_exceptions.h"

namespace scopevm::vm {
namespace {

using runtime::count_text;

// The scheduler to which this thread belongs, or null.
thread_local const CallScheduler* scheduler_of_thread = nullptr;

// Stacks that are kept for later requests.
constexpr size_t kMostSpareFibers = 64;

Status invalid(std::string message) { return {StatusCode::kInvalidArgument, std::move(message)}; }

Status check(const SchedulerOptions& options) {
  if (options.workers < 0 || options.workers > runtime::kMaxThreads)
    return invalid(std::to_string(options.workers) + " workers, expected 0 to " +
                   std::to_string(runtime::kMaxThreads));
  if (options.max_suspended < 1) return invalid("max_suspended is 0, expected at least 1");
  if (options.spin < std::chrono::nanoseconds(0) || options.spin > std::chrono::seconds(1))
    return invalid("spin is " + std::to_string(options.spin.count()) +
                   " ns, expected 0 to 1 second");
  if (options.max_bypass < 0) return invalid("max_bypass is negative, expected at least 0");
  if (options.ageing < std::chrono::nanoseconds(1) || options.ageing > std::chrono::hours(1))
    return invalid("ageing is " + std::to_string(options.ageing.count()) +
                   " ns, expected 1 ns to 1 hour");
  for (size_t i = 0; i < options.capacities.size(); ++i) {
    const PoolCapacity& capacity = options.capacities[i];
    if (capacity.bytes < 0)
      return invalid("the capacity of pool \"" + capacity.pool + "\" is " +
                     count_text(capacity.bytes, "byte") + ", expected at least 0");
    for (size_t j = 0; j < i; ++j)
      if (options.capacities[j].pool == capacity.pool)
        return invalid("pool \"" + capacity.pool + "\" has two capacities");
  }
  return {};
}

}  // namespace

Result<std::shared_ptr<CallScheduler>> CallScheduler::create(SchedulerOptions options) {
  SCOPEVM_RETURN_IF_ERROR(check(options));
  SCOPEVM_ASSIGN_OR_RETURN(const runtime::CpuSet cpus, runtime::CpuSet::create(options.cpus));
  if (options.workers == 0) {
    const int available = runtime::available_cpus();
    options.workers = cpus.is_all() ? available : std::min(available, cpus.count());
  }
  std::vector<Ledger::Pool> pools;
  for (const PoolCapacity& capacity : options.capacities)
    pools.push_back({.name = capacity.pool, .capacity = capacity.bytes});
  const std::shared_ptr<CallScheduler> scheduler(
      new CallScheduler(std::move(options), cpus, std::move(pools)));
  // Stops the threads, also if some of them cannot start.
  std::shared_ptr<CallScheduler> owner(scheduler.get(),
                                       [scheduler](CallScheduler* ended) { ended->stop(); });
  SCOPEVM_RETURN_IF_ERROR(scheduler->start(scheduler));
  return owner;
}

class CallScheduler::RequestFiber final : public CallFiber {
 public:
  RequestFiber(std::unique_ptr<Fiber> fiber, CallScheduler& scheduler)
      : CallFiber(std::move(fiber)), scheduler_(scheduler) {}

  std::shared_ptr<ScheduledRequest> request;
  RequestFiber* next = nullptr;  // in the list of woken fibers

  void wake() noexcept override { scheduler_.wake(*this); }

 private:
  void body() override { request->run(this); }
  void wake_at(Time time) override { scheduler_.wake_at(time, *this); }

  CallScheduler& scheduler_;
};

CallScheduler::CallScheduler(SchedulerOptions options, const runtime::CpuSet& cpus,
                             std::vector<Ledger::Pool> pools)
    : options_(std::move(options)),
      cpus_(cpus),
      ledger_(std::move(pools)),
      memories_(ledger_.pools().size(), std::vector<std::weak_ptr<runtime::ScopeMemory>>(1)),
      queue_(ledger_, {.max_bypass = options_.max_bypass, .ageing = options_.ageing}) {}

CallScheduler::~CallScheduler() = default;

Status CallScheduler::start(const std::shared_ptr<CallScheduler>& self) {
  threads_.reserve(static_cast<size_t>(options_.workers) + 1);
  spare_fibers_.reserve(std::min(options_.max_suspended, kMostSpareFibers));
  try {
    for (int i = 0; i < options_.workers; ++i) threads_.emplace_back([self] { self->work(); });
    threads_.emplace_back([self] { self->watch_deadlines(); });
  } catch (const std::system_error&) {
    return {StatusCode::kResourceLimit,
            "the system cannot start " + count_text(options_.workers + 1, "thread")};
  }
  return {};
}

void CallScheduler::stop() {
  {
    std::lock_guard lock(mutex_);
    is_stopping_ = true;
    ++pending_;
  }
  work_.notify_all();
  deadlines_.notify_all();
  for (std::thread& thread : threads_)
    if (thread.get_id() == std::this_thread::get_id())
      thread.detach();
    else
      thread.join();
}

Status CallScheduler::submit(std::shared_ptr<ScheduledRequest> request, int priority,
                             std::optional<Time> deadline, bool can_run_here) {
  SCOPEVM_RETURN_IF_ERROR(ledger_.check_capacity(request->needs()));
  std::unique_lock lock(mutex_);
  const size_t before = waiting_.size() + ready_.size();
  if (before >= options_.max_waiting)
    return {StatusCode::kResourceLimit, count_text(before, "call") + " wait already"};
  const Jobs::iterator job = waiting_.emplace(waiting_.end());
  const Time now = std::chrono::steady_clock::now();
  job->self = job;
  job->place = now - priority * options_.ageing;
  job->deadline = deadline;
  try {
    if (deadline) {
      Deadlines one = {{*deadline, &*job}};
      job->of_deadline = one.extract(one.begin());
    }
    queue_.add({.request = &*job,
                .priority = priority,
                .since = now,
                .deadline = deadline,
                .needs = request->needs()});
  } catch (...) {
    waiting_.erase(job);
    throw;
  }
  request->job_ = &*job;
  job->request = std::move(request);
  if (job->request->has_cancel_flag()) ++flags_;
  if (job->request->is_cancelled()) {
    const std::shared_ptr<ScheduledRequest> cancelled = drop(*job);
    lock.unlock();
    cancelled->refuse({StatusCode::kCancelled, "the call was cancelled"});
    return {};
  }
  admit(&*job);
  if (job->is_ready) {
    const bool is_idle =
        ready_.size() == 1 && busy_.load(std::memory_order_relaxed) <= options_.workers;
    if (can_run_here && is_idle && !job->request->can_wait()) {
      run_here(lock);
      return {};
    }
    work_.notify_one();
  }
  // The first waiting request with a flag starts the polling.
  const bool starts_polling = !job->is_ready && flags_ == 1 && job->request->has_cancel_flag();
  if (deadline || starts_polling) deadlines_.notify_one();
  return {};
}

void CallScheduler::run_here(std::unique_lock<std::mutex>& lock) {
  const CallScheduler* const before = std::exchange(scheduler_of_thread, this);
  start_request(lock);
  scheduler_of_thread = before;
}

void CallScheduler::admit(const Job* own) {
  while (std::optional<AdmissionQueue::Entry> admitted = queue_.admit()) {
    Job& job = *static_cast<Job*>(admitted->request);
    job.is_ready = true;
    if (job.request->has_cancel_flag()) --flags_;
    job.request->admitted();
    ready_.splice(position(job.place), waiting_, job.self);
    if (job.deadline) deadlines_of_ready_.insert(std::move(job.of_deadline));
    ++busy_;
    ++pending_;
    if (&job != own) work_.notify_one();
  }
}

// Searches from both ends, because most places are near one: jobs of the lowest priority belong to
// the end, and those of the highest are few.
CallScheduler::Jobs::iterator CallScheduler::position(Time place) {
  auto front = ready_.begin(), back = ready_.end();
  while (front != back) {
    if (front->place > place) return front;
    if (std::prev(back)->place <= place) return back;
    ++front;
    if (front != back) --back;
  }
  return back;
}

std::shared_ptr<ScheduledRequest> CallScheduler::take(Job& job) {
  std::shared_ptr<ScheduledRequest> request = std::move(job.request);
  if (!job.is_ready && request->has_cancel_flag()) --flags_;
  if (job.is_ready && job.deadline) deadlines_of_ready_.erase({*job.deadline, &job});
  request->job_ = nullptr;
  (job.is_ready ? ready_ : waiting_).erase(job.self);
  return request;
}

std::shared_ptr<ScheduledRequest> CallScheduler::drop(Job& job) {
  if (job.is_ready) {
    ledger_.end(job.request->needs());
    --busy_;
    --pending_;
  } else {
    queue_.remove(&job);
  }
  return take(job);
}

void CallScheduler::cancel(ScheduledRequest* request) {
  std::shared_ptr<ScheduledRequest> removed;
  {
    std::lock_guard lock(mutex_);
    auto* const job = static_cast<Job*>(request->job_);
    if (job == nullptr) return;
    removed = drop(*job);
    admit();  // it may have kept others from being admitted
  }
  removed->refuse({StatusCode::kCancelled, "the call was cancelled"});
}

void CallScheduler::end(std::span<const Need> needs) {
  if (needs.empty()) return;
  std::lock_guard lock(mutex_);
  ledger_.end(needs);
  admit();
}

Status CallScheduler::hold(std::span<const Need> needs, std::string_view what) {
  std::lock_guard lock(mutex_);
  for (const Need& need : needs) {
    const Ledger::Pool& pool = ledger_.pools()[need.pool];
    if (need.bytes > pool.free())
      return {StatusCode::kResourceLimit, pool.name + ": " + count_text(need.bytes, "byte") +
                                              " of " + std::string(what) + ", but only " +
                                              count_text(pool.free(), "byte") + " of " +
                                              count_text(pool.capacity, "byte") + " are free"};
  }
  for (const Need& need : needs) ledger_.hold(need);
  return {};
}

void CallScheduler::release(const Need& need) {
  std::lock_guard lock(mutex_);
  ledger_.release(need);
  admit();
}

uint32_t CallScheduler::add_user(uint32_t pool,
                                 const std::shared_ptr<runtime::ScopeMemory>& memory) {
  std::lock_guard lock(mutex_);
  std::vector<std::weak_ptr<runtime::ScopeMemory>>& known = memories_[pool];
  for (uint32_t user = 1; user < known.size(); ++user)
    if (known[user].expired()) {
      known[user] = memory;
      return user;
    }
  // Nothing below fails after add_user().
  if (known.size() == known.capacity()) known.reserve(2 * known.size());
  const uint32_t user = ledger_.add_user(pool);
  known.push_back(memory);
  return user;
}

void CallScheduler::trim_caches(std::span<const Need> needs, std::unique_lock<std::mutex>& lock) {
  for (const Need& need : needs) {
    if (!ledger_.can_exceed(need.pool)) continue;
    ledger_.trimmed(need.pool);
    for (size_t user = 1; user < memories_[need.pool].size(); ++user) {
      std::shared_ptr<runtime::ScopeMemory> memory = memories_[need.pool][user].lock();
      if (memory == nullptr) continue;
      lock.unlock();
      (void)runtime::without_exceptions([&]() -> Status {
        memory->allocator().trim();
        return {};
      });
      memory.reset();  // can be the last reference
      lock.lock();
    }
  }
}

bool CallScheduler::is_own_thread() const { return scheduler_of_thread == this; }

void CallScheduler::enter_thread() const { scheduler_of_thread = this; }

// --- Workers. -----------------------------------------------------------------------------------

bool CallScheduler::can_start() const {
  return !ready_.empty() &&
         (fibers_in_use_ < options_.max_suspended || !ready_.front().request->can_wait());
}

void CallScheduler::wait_for_work(std::unique_lock<std::mutex>& lock) {
  const auto has_work = [&] { return first_woken_ != nullptr || can_start() || is_stopping_; };
  if (has_work()) return;
  if (options_.spin > std::chrono::nanoseconds(0)) {
    lock.unlock();
    const Time end = std::chrono::steady_clock::now() + options_.spin;
    while (pending_.load(std::memory_order_relaxed) == 0 && std::chrono::steady_clock::now() < end)
      std::this_thread::yield();
    lock.lock();
  }
  work_.wait(lock, has_work);
}

void CallScheduler::work() {
  enter_thread();
  cpus_.bind_thread();
  std::unique_lock lock(mutex_);
  while (true) {
    wait_for_work(lock);
    // Requests that have started come first: their end makes memory free.
    if (first_woken_ != nullptr) {
      run_first_woken(lock);
    } else if (can_start()) {
      start_request(lock);
    } else {
      // Requests keep the scheduler alive, so that none waits when it stops.
      return;
    }
  }
}

void CallScheduler::run_first_woken(std::unique_lock<std::mutex>& lock) {
  RequestFiber& fiber = *first_woken_;
  first_woken_ = std::exchange(fiber.next, nullptr);
  --pending_;
  run_fiber(fiber, lock);
}

bool CallScheduler::run_woken() {
  std::unique_lock lock(mutex_);
  wake_sleepers();  // the thread that does so can be this one
  if (first_woken_ == nullptr) return false;
  run_first_woken(lock);
  return true;
}

void CallScheduler::start_request(std::unique_lock<std::mutex>& lock) {
  std::shared_ptr<ScheduledRequest> request = take(ready_.front());
  --pending_;
  ++running_;
  RequestFiber* const fiber = request->can_wait() ? take_fiber() : nullptr;
  trim_caches(request->needs(), lock);
  if (fiber != nullptr) {
    fiber->request = std::move(request);
    run_fiber(*fiber, lock);
    return;
  }
  lock.unlock();
  request->run(nullptr);
  request.reset();  // can be the last reference to a call, its results and this scheduler
  lock.lock();
  --running_;
  --busy_;
}

void CallScheduler::run_fiber(RequestFiber& fiber, std::unique_lock<std::mutex>& lock) {
  lock.unlock();
  const bool has_ended = fiber.run();
  if (has_ended) fiber.request.reset();
  lock.lock();
  --busy_;
  if (!has_ended) return;  // another thread can use the fiber
  --running_;
  return_fiber(fiber);
}

CallScheduler::RequestFiber* CallScheduler::take_fiber() {
  RequestFiber* fiber = nullptr;
  if (!spare_fibers_.empty()) {
    fiber = spare_fibers_.back().release();
    spare_fibers_.pop_back();
  } else if (std::unique_ptr<Fiber> stack = Fiber::create()) {
    fiber = new (std::nothrow) RequestFiber(std::move(stack), *this);
  }
  if (fiber != nullptr) ++fibers_in_use_;
  return fiber;
}

void CallScheduler::return_fiber(RequestFiber& fiber) {
  std::unique_ptr<RequestFiber> owned(&fiber);
  // spare_fibers_ has its capacity from start(), so that this does not fail.
  if (spare_fibers_.size() < spare_fibers_.capacity()) spare_fibers_.push_back(std::move(owned));
  if (fibers_in_use_-- == options_.max_suspended) work_.notify_one();
}

void CallScheduler::push_woken(RequestFiber& fiber) {
  (first_woken_ == nullptr ? first_woken_ : last_woken_->next) = &fiber;
  last_woken_ = &fiber;
  ++busy_;
  ++pending_;
  work_.notify_one();
}

void CallScheduler::wake(RequestFiber& fiber) {
  std::lock_guard lock(mutex_);
  push_woken(fiber);
}

void CallScheduler::wake_at(Time time, RequestFiber& fiber) {
  std::lock_guard lock(mutex_);
  if (sleeping_.emplace(time, &fiber) == sleeping_.begin()) deadlines_.notify_one();
}

SchedulerStats CallScheduler::stats() const {
  SchedulerStats stats;
  std::lock_guard lock(mutex_);
  stats.waiting = waiting_.size();
  stats.ready = ready_.size();
  stats.running = running_;
  for (const Ledger::Pool& pool : ledger_.pools())
    stats.pools.push_back({pool.name, pool.capacity, pool.reserved, pool.held});
  return stats;
}

}  // namespace scopevm::vm
