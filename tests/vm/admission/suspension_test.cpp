// Calls that are suspended while they wait for a device: thousands at once on two workers, with
// random events, cancellations and deadlines.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "runtime/cpu/sanitizer_order.h"
#include "scopevm/scheduler.h"
#include "scopevm/session.h"
#include "tests/vm/admission/counting_allocator.h"
#include "tests/vm/admission/device_programs.h"
#include "tests/vm/admission/fake_device.h"
#include "tests/vm/admission/scheduler_calls.h"
#include "vm/api/module_access.h"
#include "vm/run/call/bound_session.h"

namespace scopevm {
namespace {

using test::DeviceProgram;
using test::FakeDevice;
using test::kGlobal;
using test::kProgramBytes;
using test::kWorkspace;
using test::use_of;

// The state that ThreadSanitizer keeps of each fiber is large.
#ifdef SCOPEVM_THREAD_SANITIZER
constexpr int kCalls = 2000;
constexpr size_t kSuspended = 100;
#else
constexpr int kCalls = 10000;
constexpr size_t kSuspended = 1000;
#endif

Session session_of(const DeviceProgram& program, const std::shared_ptr<FakeDevice>& device,
                   SessionOptions options) {
  const auto open = [&](const std::string&, int) -> Result<std::shared_ptr<runtime::Device>> {
    return std::shared_ptr<runtime::Device>(device);
  };
  auto bound = vm::BoundSession::create(ModuleAccess::loaded(test::load_program(program)),
                                        std::move(options), open);
  EXPECT_TRUE(bound.ok()) << bound.status().message();
  return SessionAccess::make(*std::move(bound));
}

Tensor bytes_from(int first) {
  Tensor tensor = *Tensor::allocate(DType::kU8, {kProgramBytes});
  for (int64_t i = 0; i < kProgramBytes; ++i)
    tensor.elements<uint8_t>()[static_cast<size_t>(i)] = static_cast<uint8_t>(first + i);
  return tensor;
}

bool is_result(const Tensor& y, int first, int added) {
  for (int64_t i = 0; i < kProgramBytes; ++i)
    if (y.elements<uint8_t>()[static_cast<size_t>(i)] != static_cast<uint8_t>(first + added + i))
      return false;
  return y.bytes() == kProgramBytes;
}

// Random programs on one device, and their sessions on one scheduler.
class Programs {
 public:
  static constexpr int64_t kGlobalCapacity = 1500 * kProgramBytes;
  static constexpr int64_t kWorkspaceCapacity = 2500 * kProgramBytes;

  Programs(uint32_t seed, bool is_running)
      : device_(std::make_shared<FakeDevice>(seed, is_running)),
        scheduler_(*Scheduler::create(
            {.workers = 2,
             .capacities = {{kGlobal, kGlobalCapacity}, {kWorkspace, kWorkspaceCapacity}},
             .max_suspended = kSuspended})) {
    SessionOptions options;
    options.scheduler = scheduler_;
    // Also bounds the allocations of each time: no call may use more than it has reserved.
    options.wrap_allocator = [this](std::string_view device, std::string_view scope,
                                    std::shared_ptr<Allocator> inner) {
      if (device != "cpu") return inner;
      const bool is_global = scope == "global";
      return std::shared_ptr<Allocator>(std::make_shared<test::CountingAllocator>(
          std::move(inner), is_global ? live_global_ : live_workspace_,
          is_global ? kGlobalCapacity : kWorkspaceCapacity));
    };
    for (uint32_t i = 0; i < 8; ++i) {
      programs_.push_back(test::DeviceProgramWriter(seed + i).write(static_cast<int>(i)));
      sessions_.push_back(session_of(programs_.back(), device_, options));
    }
  }

  FakeDevice& device() { return *device_; }
  const Scheduler& scheduler() const { return scheduler_; }
  const Session& session(size_t index) const { return sessions_[index % sessions_.size()]; }
  SubmitOptions options(size_t index) const {
    SubmitOptions options;
    options.data_budgets = {{kGlobal, kProgramBytes},
                            {kWorkspace, programs_[index % programs_.size()].workspace_bytes}};
    return options;
  }
  int added(size_t index) const { return programs_[index % programs_.size()].added; }
  void expect_nothing_held() {
    for (const char* pool : {kGlobal, kWorkspace}) {
      EXPECT_EQ(use_of(scheduler_, pool).reserved_bytes, 0);
      EXPECT_EQ(use_of(scheduler_, pool).held_bytes, 0);
    }
    EXPECT_EQ(live_global_, 0);
    EXPECT_EQ(live_workspace_, 0);
    for (const Session& session : sessions_) {
      for (const ScopeStats& scope : *session.memory_stats()) EXPECT_EQ(scope.memory.live_bytes, 0);
      session.trim();
    }
    EXPECT_EQ(device_->live_bytes(), 0);
  }

 private:
  std::shared_ptr<FakeDevice> device_;
  Scheduler scheduler_;
  std::atomic<int64_t> live_global_ = 0, live_workspace_ = 0;
  std::vector<DeviceProgram> programs_;
  std::vector<Session> sessions_;
};

void wait_until(const std::function<bool()>& is_true) {
  while (!is_true()) std::this_thread::yield();
}

// All calls are submitted before the device executes anything. Each result is checked; some calls
// are cancelled or late, before they start, while they are suspended, and while they run.
TEST(Suspension, ThousandsOfCallsInFlightOnTwoWorkers) {
  Programs programs(1, /*is_running=*/false);
  std::mt19937 random(7);
  std::atomic<int> ended = 0, completed = 0;
  std::vector<std::optional<Call>> calls(kCalls);
  const auto submit = [&](size_t i, bool can_fail) {
    SubmitOptions options = programs.options(i);
    options.priority = static_cast<int>(random() % 3);
    if (can_fail && random() % 8 == 0)
      options.call.deadline =
          std::chrono::steady_clock::now() + std::chrono::milliseconds(random() % 500);
    const Status submitted = calls[i]->submit(options, [&, i, can_fail](const Status& status) {
      if (status.ok()) {
        ++completed;
        EXPECT_TRUE(is_result(*calls[i]->output("y"), static_cast<int>(i), programs.added(i)));
      } else {
        EXPECT_TRUE(can_fail) << status.message();
        EXPECT_TRUE(status.code() == StatusCode::kCancelled ||
                    status.code() == StatusCode::kDeadlineExceeded)
            << status.message();
      }
      calls[i]->clear_outputs();
      ++ended;
    });
    EXPECT_TRUE(submitted.ok()) << submitted.message();
  };
  for (size_t i = 0; i < calls.size(); ++i) {
    calls[i] = *programs.session(i).make_call();
    ASSERT_TRUE(calls[i]->set_input(0, bytes_from(static_cast<int>(i))).ok());
    submit(i, true);
    if (random() % 16 == 0) calls[random() % (i + 1)]->cancel();
  }
  // Every call that runs is suspended: the workers are free.
  wait_until([&] { return programs.scheduler().stats()->running >= kSuspended; });
  EXPECT_EQ(programs.scheduler().stats()->running, kSuspended);
  programs.device().run();
  for (int i = 0; i < 200; ++i) calls[random() % calls.size()]->cancel();
  for (const std::optional<Call>& call : calls) (void)call->wait();
  EXPECT_EQ(ended, kCalls);
  EXPECT_GT(completed, kCalls / 2);
  EXPECT_GT(programs.device().woken(), completed);
  EXPECT_EQ(programs.device().blocked(), 0);
  programs.expect_nothing_held();
  // Later runs have the same results. A call can have been cancelled after its end.
  ended = 0;
  for (size_t i = 0; i < 200; ++i) {
    const Call fresh = std::move(*calls[i]);
    calls[i] = *programs.session(i).make_call();
    ASSERT_TRUE(calls[i]->set_input(0, bytes_from(static_cast<int>(i))).ok());
    submit(i, false);
  }
  for (size_t i = 0; i < 200; ++i) EXPECT_TRUE(calls[i]->wait().ok());
  programs.expect_nothing_held();
}

// A worker is free while the call that it started waits for its device.
TEST(Suspension, AWorkerRunsOtherCallsInTheMeantime) {
  const auto device = std::make_shared<FakeDevice>(1, false);
  const Scheduler scheduler = *Scheduler::create({.workers = 1});
  SessionOptions options;
  options.scheduler = scheduler;
  const DeviceProgram program = test::DeviceProgramWriter(3).write(4);
  const Session session = session_of(program, device, options);
  Call waiting = *session.make_call();
  ASSERT_TRUE(waiting.set_input(0, bytes_from(5)).ok());
  ASSERT_TRUE(waiting.submit().ok());
  Call other = test::sum_call(test::session_on(scheduler, test::sum_contents()), 3);
  EXPECT_TRUE(other.run().ok());
  EXPECT_TRUE(waiting.is_in_flight());
  device->run();
  EXPECT_TRUE(waiting.wait().ok());
  EXPECT_TRUE(is_result(*waiting.output("y"), 5, program.added));
  EXPECT_EQ(device->blocked(), 0);
}

// A traced call runs on the stack of its worker and blocks it. So does a call without a scheduler.
TEST(Suspension, OtherCallsBlock) {
  struct Sink final : TraceSink {
    void record(const TraceEvent&) override { ++events; }
    int events = 0;
  } sink;
  const auto device = std::make_shared<FakeDevice>(1, true);
  const DeviceProgram program = test::DeviceProgramWriter(4).write(6);
  const Scheduler scheduler = *Scheduler::create({.workers = 1});
  for (const bool is_scheduled : {false, true}) {
    SessionOptions options;
    if (is_scheduled) options.scheduler = scheduler;
    const Session session = session_of(program, device, options);
    Call call = *session.make_call();
    ASSERT_TRUE(call.set_input(0, bytes_from(9)).ok());
    ASSERT_TRUE(call.run({.trace = &sink}).ok());
    EXPECT_TRUE(is_result(*call.output("y"), 9, program.added));
    EXPECT_EQ(device->woken(), 0);
  }
  EXPECT_GT(sink.events, 0);
}

TEST(Suspension, InvalidOption) {
  const Result<Scheduler> scheduler = Scheduler::create({.max_suspended = 0});
  EXPECT_EQ(scheduler.status().message(), "max_suspended is 0, expected at least 1");
}

// The results do not depend on max_suspended: calls wait for a stack.
TEST(Suspension, OneStack) {
  const auto device = std::make_shared<FakeDevice>(1, true);
  const Scheduler scheduler = *Scheduler::create({.workers = 2, .max_suspended = 1});
  SessionOptions options;
  options.scheduler = scheduler;
  const DeviceProgram program = test::DeviceProgramWriter(5).write(6);
  const Session session = session_of(program, device, options);
  std::vector<Call> calls;
  for (int i = 0; i < 50; ++i) {
    calls.push_back(*session.make_call());
    ASSERT_TRUE(calls.back().set_input(0, bytes_from(i)).ok());
    ASSERT_TRUE(calls.back().submit().ok());
  }
  for (int i = 0; i < 50; ++i) {
    EXPECT_TRUE(calls[static_cast<size_t>(i)].wait().ok());
    EXPECT_TRUE(is_result(*calls[static_cast<size_t>(i)].output("y"), i, program.added));
  }
}

}  // namespace
}  // namespace scopevm
