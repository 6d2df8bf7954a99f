// Traces of calls: the events of functions, launches, workers and copies, also of calls that fail
// and with sinks that throw. Devices: tests/compiler/devices_test.cpp.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <numeric>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "scopevm/session.h"
#include "tests/vm/modules/test_modules.h"

namespace scopevm {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using Kind = TraceEvent::Kind;
using Lane = TraceEvent::Lane;

// A copy of an event that outlives the call.
struct Event {
  explicit Event(const TraceEvent& event)
      : kind(event.kind),
        lane(event.lane),
        worker(event.worker),
        name(event.name),
        kernel(event.kernel),
        device(event.device),
        scope(event.scope),
        bytes(event.bytes),
        start_ns(event.start_ns),
        end_ns(event.start_ns + event.duration_ns),
        request_id(event.request_id),
        status(event.status) {
    for (const TraceDim& dim : event.dims) dims.emplace_back(dim.name, dim.value);
  }
  bool contains(const Event& other) const {
    return start_ns <= other.start_ns && other.end_ns <= end_ns;
  }

  Kind kind;
  Lane lane;
  int64_t worker;
  std::string name, kernel, device, scope;
  int64_t bytes, start_ns, end_ns;
  uint64_t request_id;
  StatusCode status;
  std::vector<std::pair<std::string, int64_t>> dims;
};

class Recorder final : public TraceSink {
 public:
  void record(const TraceEvent& event) override { events.emplace_back(event); }
  std::vector<Event> of(Kind kind, Lane lane = Lane::kCaller) const {
    std::vector<Event> found;
    for (const Event& event : events)
      if (event.kind == kind && event.lane == lane) found.push_back(event);
    return found;
  }
  std::vector<Event> events;
};

Tensor floats(std::vector<int64_t> dims) {
  Tensor tensor = *Tensor::allocate(DType::kF32, dims);
  std::ranges::fill(tensor.elements<float>(), 1.0f);
  return tensor;
}

// The events of one lane are disjoint or nested, and none lasts longer than the call.
void expect_well_formed(const Recorder& recorder) {
  ASSERT_EQ(recorder.of(Kind::kCall).size(), 1U);
  const Event call = recorder.of(Kind::kCall).front();
  for (const Event& a : recorder.events) {
    EXPECT_EQ(a.request_id, call.request_id);
    EXPECT_LE(a.start_ns, a.end_ns);
    if (a.kind == Kind::kMemory || a.kind == Kind::kWait) continue;
    EXPECT_TRUE(call.contains(a)) << a.name;
    for (const Event& b : recorder.events) {
      if (a.lane != b.lane || a.worker != b.worker || b.kind == Kind::kWait) continue;
      if (b.kind == Kind::kMemory) continue;
      EXPECT_TRUE(a.contains(b) || b.contains(a) || a.end_ns <= b.start_ns ||
                  b.end_ns <= a.start_ns)
          << a.name << " " << a.kernel << " and " << b.name << " " << b.kernel;
    }
  }
}

TEST(Trace, HasLaunchesOfTheCall) {
  const Session session = *Session::create(test::load(test::sum_contents()));
  Recorder recorder;
  ASSERT_TRUE(session.call(std::vector{floats({2, 4}), floats({2, 4})}, {.trace = &recorder}).ok());
  expect_well_formed(recorder);
  const std::vector<Event> launches = recorder.of(Kind::kLaunch);
  ASSERT_EQ(launches.size(), 2U);
  EXPECT_EQ(launches[0].kernel, "test_add");
  EXPECT_EQ(launches[1].kernel, "test_scale");
  for (const Event& launch : launches) EXPECT_EQ(launch.device, "cpu");
  // x, y and the sum; the sum, the factor and z.
  EXPECT_EQ(launches[0].bytes, 3 * 32);
  EXPECT_EQ(launches[1].bytes, 2 * 32 + 4);
  const Event call = recorder.of(Kind::kCall).front();
  EXPECT_EQ(call.name, "main");
  EXPECT_EQ(call.status, StatusCode::kOk);
  EXPECT_THAT(call.dims, ElementsAre(std::pair(std::string("n"), int64_t{2})));
  EXPECT_EQ(call.bytes, 32 + (32 + 64));  // z and the workspace
}

// Each change of the live bytes is an event, up to the result that remains.
TEST(Trace, HasTheLiveBytesOfPools) {
  const Session session = *Session::create(test::load(test::sum_contents()));
  Recorder recorder;
  const auto results =
      session.call(std::vector{floats({2, 4}), floats({2, 4})}, {.trace = &recorder});
  ASSERT_TRUE(results.ok());
  std::map<std::string, std::vector<int64_t>> live;
  for (const Event& event : recorder.of(Kind::kMemory)) {
    EXPECT_EQ(event.device, "cpu");
    EXPECT_EQ(event.start_ns, event.end_ns);
    live[event.scope].push_back(event.bytes);
  }
  EXPECT_THAT(live["global"], AllOf(Not(IsEmpty()), Each(32)));
  EXPECT_THAT(live["global.workspace"], ElementsAre(96, 0, 0));
}

TEST(Trace, HasTheRequestAndItsFailure) {
  const Session session =
      *Session::create(test::load(test::sum_contents()), {.memory_limits = {{"global", 31}}});
  Recorder recorder;
  EXPECT_FALSE(
      session
          .call(std::vector{floats({2, 4}), floats({2, 4})}, {.trace = &recorder, .request_id = 77})
          .ok());
  expect_well_formed(recorder);
  EXPECT_EQ(recorder.of(Kind::kCall).front().request_id, 77U);
  EXPECT_EQ(recorder.of(Kind::kCall).front().status, StatusCode::kResourceLimit);
}

TEST(Trace, HasTheWaitsOfSubmittedCalls) {
  const Scheduler scheduler = *Scheduler::create({.workers = 1});
  const Session session =
      *Session::create(test::load(test::sum_contents()), {.scheduler = scheduler});
  Recorder first, second;
  for (Recorder* recorder : {&first, &second})
    ASSERT_TRUE(
        session.call(std::vector{floats({2, 4}), floats({2, 4})}, {.trace = recorder}).ok());
  for (const Recorder* recorder : {&first, &second}) {
    expect_well_formed(*recorder);
    const std::vector<Event> waits = recorder->of(Kind::kWait);
    ASSERT_EQ(waits.size(), 2U);
    EXPECT_EQ(waits[0].name, "memory");
    EXPECT_EQ(waits[1].name, "worker");
    EXPECT_EQ(waits[0].end_ns, waits[1].start_ns);
    EXPECT_LE(waits[1].end_ns, recorder->of(Kind::kCall).front().start_ns);
  }
  EXPECT_NE(first.events[0].request_id, second.events[0].request_id);
}

// A call that ends before it is admitted has waited for memory only.
TEST(Trace, HasTheWaitOfACancelledCall) {
  const Scheduler scheduler =
      *Scheduler::create({.workers = 1, .capacities = {{"cpu.global", 48}}});
  const Session session =
      *Session::create(test::load(test::sum_contents()), {.scheduler = scheduler});
  const auto held = session.call(std::vector{floats({2, 4}), floats({2, 4})});
  ASSERT_TRUE(held.ok());
  Call call = *session.make_call();
  for (size_t i = 0; i < 2; ++i) ASSERT_TRUE(call.set_input(i, floats({2, 4})).ok());
  Recorder recorder;
  ASSERT_TRUE(call.submit({.call = {.trace = &recorder}}).ok());
  call.cancel();
  EXPECT_EQ(call.wait().code(), StatusCode::kCancelled);
  ASSERT_EQ(recorder.events.size(), 1U);
  EXPECT_EQ(recorder.events[0].name, "memory");
  EXPECT_EQ(recorder.events[0].status, StatusCode::kCancelled);
}

TEST(Trace, NamesTheVariant) {
  const Session session = *Session::create(test::load(test::variant_contents()));
  for (const auto& [n, name] : {std::pair{7, "main[n=7]"}, std::pair{9, "main"}}) {
    Recorder recorder;
    ASSERT_TRUE(
        session.call(std::vector{floats({n, 4}), floats({n, 4})}, {.trace = &recorder}).ok());
    EXPECT_EQ(recorder.of(Kind::kCall).front().name, name);
  }
}

TEST(Trace, NestsCallsOfFunctions) {
  const Session session = *Session::create(test::load(test::recursive_contents()));
  Recorder recorder;
  ASSERT_TRUE(session.call(std::vector{floats({5})}, {.trace = &recorder}).ok());
  expect_well_formed(recorder);
  // The innermost call ends first.
  const std::vector<Event> functions = recorder.of(Kind::kFunction);
  ASSERT_EQ(functions.size(), 5U);
  for (size_t i = 1; i < functions.size(); ++i)
    EXPECT_TRUE(functions[i].contains(functions[i - 1])) << i;
}

// A failed call has the events of all that it did, functions that have not returned included.
TEST(Trace, OfAFailedCallIsComplete) {
  const Session session = *Session::create(test::load(test::recursive_contents()));
  Recorder recorder;
  EXPECT_EQ(session.call(std::vector{floats({5000})}, {.trace = &recorder}).status().code(),
            StatusCode::kResourceLimit);
  expect_well_formed(recorder);
  EXPECT_EQ(recorder.of(Kind::kFunction).size(), 1023U);
}

// Runs every range on the calling thread, for workers 2, 1, 0, 2, ...
class ThreeWorkers final : public Executor {
 public:
  int threads() const override { return 3; }
  void parallel_for(int64_t total, int64_t grain, Body body, void* context) override {
    for (int64_t begin = 0, worker = 2; begin < total; begin += grain, worker = (worker + 2) % 3)
      body(context, begin, std::min(total, begin + grain), worker);
  }
};

TEST(Trace, HasTheWorkersOfParallelLoops) {
  const Session session = *Session::create(test::load(test::sum_contents()),
                                           {.executor = std::make_shared<ThreeWorkers>()});
  const std::atomic<bool> cancel = false;
  // A call that can be cancelled runs kernels in blocks.
  for (const std::atomic<bool>* flag : {static_cast<const std::atomic<bool>*>(nullptr), &cancel}) {
    Recorder recorder;
    ASSERT_TRUE(session
                    .call(std::vector{floats({100, 4}), floats({100, 4})},
                          {.cancel = flag, .trace = &recorder})
                    .ok());
    const std::vector<Event> launches = recorder.of(Kind::kLaunch);
    const std::vector<Event> parts = recorder.of(Kind::kLaunch, Lane::kWorker);
    ASSERT_EQ(launches.size(), 2U);
    ASSERT_EQ(parts.size(), 6U);
    for (size_t i = 0; i < parts.size(); ++i) {
      EXPECT_EQ(parts[i].worker, static_cast<int64_t>(i % 3));
      EXPECT_EQ(parts[i].kernel, launches[i / 3].kernel);
      EXPECT_TRUE(launches[i / 3].contains(parts[i]));
    }
  }
}

TEST(Trace, OfSeveralThreadsIsWellFormed) {
  const Session session = *Session::create(test::load(test::sum_contents()), {.threads = 3});
  for (int round = 0; round < 20; ++round) {
    Recorder recorder;
    ASSERT_TRUE(
        session.call(std::vector{floats({1000, 4}), floats({1000, 4})}, {.trace = &recorder}).ok());
    expect_well_formed(recorder);
    EXPECT_GE(recorder.of(Kind::kLaunch, Lane::kWorker).size(), 2U);
  }
}

// Throws at event number `last`, counted from 0.
class ThrowingSink final : public TraceSink {
 public:
  explicit ThrowingSink(int last) : left_(last) {}
  void record(const TraceEvent&) override {
    if (left_-- == 0) throw std::runtime_error("the disk is full");
  }

 private:
  int left_;
};

TEST(Trace, ExceptionOfASinkEndsTheCall) {
  const Session session = *Session::create(test::load(test::sum_contents()));
  const std::vector<Tensor> inputs{floats({2, 4}), floats({2, 4})};
  Recorder counted;
  ASSERT_TRUE(session.call(inputs, {.trace = &counted}).ok());
  const auto count = static_cast<int>(counted.events.size());
  for (int event = 0; event < count; ++event) {
    ThrowingSink sink(event);
    const Status status = session.call(inputs, {.trace = &sink}).status();
    EXPECT_EQ(status.code(), StatusCode::kInternal) << event;
    EXPECT_THAT(std::string(status.message()), HasSubstr("the disk is full"));
    for (const ScopeStats& scope : *session.memory_stats()) EXPECT_EQ(scope.memory.live_bytes, 0);
    EXPECT_TRUE(session.call(inputs).ok());
  }
  ThrowingSink unused(count);
  EXPECT_TRUE(session.call(inputs, {.trace = &unused}).ok());
}

}  // namespace
}  // namespace scopevm
