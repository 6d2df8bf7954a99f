// The predicted time of a request on machines with ranks, computed by hand in the comments.
#include "compiler/simulation/simulation.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/memory/random_functions.h"

namespace scopevm::compiler::simulation {
namespace {

constexpr double kPool = 1e9;  // bytes per second
constexpr double kMicroseconds = 1e-6;
const DimExpr kCount = DimExpr::symbol("n");

// The ranks 0 and 1 with a CPU each, whose pools have no latency. A link of 1 ms and 100 MB/s.
Machine two_ranks() {
  Machine machine = Machine::host();
  machine.devices.push_back({.name = "cpu1", .number = 1, .rank = 1});
  for (size_t i = 0; i < 4; ++i) {
    Pool pool = machine.pools[PoolIndex{static_cast<uint32_t>(i)}];
    pool.device = DeviceIndex{1};
    pool.reached = {DeviceIndex{1}};
    machine.pools.push_back(pool);
  }
  for (Pool& pool : machine.pools) pool.planned_speed = {kPool, kPool, 0, 1};
  machine.links = {{.ranks = {0, 1}, .bytes_per_second = 1e8, .latency_seconds = 1e-3}};
  return machine;
}

// A function over tensors of n numbers, with launches and copies on both ranks.
class TwoRanks {
 public:
  TwoRanks() {
    program_.machine = two_ranks();
    for (uint32_t device : {0, 1})
      program_.kernels.push_back(
          {.symbol = "k" + std::to_string(device), .device = DeviceIndex{device}});
    function_.dimensions = {{.name = "n"}};
    x_ = memory::add_input(function_, {kCount});
    function_.values[x_].place = workspace(0);
  }

  ValueId x() const { return x_; }
  Machine& machine() { return program_.machine; }
  Function& function() { return function_; }

  ValueId launch(uint32_t rank, std::vector<ValueId> operands) {
    const ValueId result = add(rank, std::move(operands));
    memory::launch(function_.steps.back()).kernel = KernelIndex{rank};
    return result;
  }
  ValueId copy(uint32_t to, ValueId value) {
    const ValueId result = add(to, {value});
    function_.steps.back().work = step::Copy{};
    return result;
  }
  void mark(Step step) { function_.steps.push_back(std::move(step)); }

  // For tensors of `bytes` bytes.
  Result<RequestTime> simulate(int64_t bytes = 4000) const {
    const memory::Liveness liveness = memory::find_lifespans(program_.machine, function_);
    return simulation::simulate(program_, function_, liveness,
                                {.symbols = {{"n", bytes / 4}}, .threads = 1});
  }

 private:
  Place workspace(uint32_t rank) const {
    return {DeviceIndex{rank}, program_.machine.workspace_pool(DeviceIndex{rank})};
  }
  ValueId add(uint32_t rank, std::vector<ValueId> operands) {
    const ValueId result = memory::add_step(function_, std::move(operands), {kCount});
    function_.values[result].place = workspace(rank);
    return result;
  }

  Program program_;
  Function function_;
  ValueId x_;
};

void expect_seconds(double actual, double expected) { EXPECT_NEAR(actual, expected, 1e-12); }

// An access of 4000 bytes takes 4 us. A message takes 40 us in the link, and 1000 us of latency.
TEST(Simulation, RanksWaitForMessages) {
  TwoRanks job;
  const ValueId a = job.launch(0, {job.x()});  // rank 0: 0 to 8 us
  const ValueId b = job.copy(1, a);            // 8 to 1048 us
  const ValueId c = job.launch(0, {a});        // rank 0: 8 to 16 us
  const ValueId d = job.launch(1, {b});        // rank 1: 1048 to 1056 us
  const ValueId e = job.copy(0, d);            // 1056 to 2096 us
  const ValueId f = job.launch(0, {c, e});     // rank 0: 2096 to 2108 us
  memory::add_output(job.function(), f);
  const Result<RequestTime> time = job.simulate();
  ASSERT_TRUE(time.ok()) << time.status().message();
  expect_seconds(time->seconds, 2108 * kMicroseconds);
  ASSERT_EQ(time->ranks.size(), 2u);
  EXPECT_EQ(time->ranks[0].launches, 3);
  expect_seconds(time->ranks[0].launch_seconds, 28 * kMicroseconds);
  expect_seconds(time->ranks[0].wait_seconds, 2080 * kMicroseconds);
  expect_seconds(time->ranks[0].seconds, 2108 * kMicroseconds);
  EXPECT_EQ(time->ranks[1].launches, 1);
  expect_seconds(time->ranks[1].wait_seconds, 1048 * kMicroseconds);
  expect_seconds(time->ranks[1].seconds, 1056 * kMicroseconds);
  ASSERT_EQ(time->links.size(), 2u);
  EXPECT_EQ(time->links[0].to, 1);
  EXPECT_EQ(time->links[0].messages, 1);
  EXPECT_EQ(time->links[0].bytes, 4000);
  expect_seconds(time->links[0].seconds, 40 * kMicroseconds);
}

// Both leave at 0. The second one leaves when the link has sent the first one.
TEST(Simulation, MessagesOfADirectionLeaveOneAfterTheOther) {
  TwoRanks job;
  const ValueId a = job.copy(1, job.x());  // 0 to 1040 us
  const ValueId b = job.copy(1, job.x());  // 40 to 1080 us
  job.launch(1, {a});                      // waits for both: 1080 to 1088 us
  job.launch(1, {b});                      // 1088 to 1096 us
  expect_seconds(job.simulate()->ranks[1].seconds, 1096 * kMicroseconds);
}

// A rank does not wait for later messages when it uses one that has arrived.
TEST(Simulation, ArrivedMessagesAreUsedAtOnce) {
  TwoRanks job;
  job.machine().links[0].latency_seconds = 0;
  const ValueId a = job.copy(1, job.x());  // 0 to 4 ms, for 400 kB
  job.launch(1, {a});                      // 4 to 4.8 ms
  const ValueId b = job.copy(1, job.x());  // 4 to 8 ms
  job.launch(1, {a});                      // 4.8 to 5.6 ms
  job.launch(1, {b});                      // 8 to 8.8 ms
  const Result<RequestTime> time = job.simulate(400'000);
  expect_seconds(time->ranks[1].seconds, 8.8e-3);
  expect_seconds(time->ranks[1].wait_seconds, 6.4e-3);
}

// The bytes of a message pass a pool of 10 MB/s in 400 us.
TEST(Simulation, SlowPoolsDelayMessages) {
  TwoRanks job;
  job.machine().pools[job.machine().workspace_pool(DeviceIndex{1})].planned_speed = {1e7, 1e7, 0,
                                                                                     1};
  job.copy(1, job.x());
  const Result<RequestTime> time = job.simulate();
  expect_seconds(time->ranks[1].seconds, 1400 * kMicroseconds);
  expect_seconds(time->seconds, 2400 * kMicroseconds);  // with the report of rank 1
}

// Copies within a rank take its time.
TEST(Simulation, CopiesOfARankAreNoMessages) {
  TwoRanks job;
  job.copy(0, job.x());
  const Result<RequestTime> time = job.simulate();
  expect_seconds(time->ranks[0].copy_seconds, 4 * kMicroseconds);
  EXPECT_TRUE(time->links.empty());
}

TEST(Simulation, LoopsAreRepeated) {
  TwoRanks job;
  job.function().segments.resize(2);
  job.mark({.segment = SegmentIndex{1}, .work = step::Loop{.trip_count = kCount}});
  job.launch(0, {job.x()});
  job.mark({.work = step::EndLoop{.begin = 0}});
  job.launch(0, {job.x()});
  EXPECT_EQ(job.simulate(12)->ranks[0].launches, 4);
  EXPECT_EQ(job.simulate(0)->ranks[0].launches, 1);
}

// A loop-carried value is still under way when it gets another name.
TEST(Simulation, MessagesKeepTheirStorage) {
  for (const bool is_swapped : {false, true}) {
    TwoRanks job;
    const ValueId a = job.copy(1, job.x());  // 0 to 1040 us
    const ValueId b = job.launch(1, {});     // 1000 to 1004 us
    if (is_swapped)
      job.mark({.operands = {a, b}, .work = step::Swap{}});
    else
      job.mark({.operands = {a}, .results = {b}, .work = step::Move{}});
    job.launch(1, {b});  // 1040 to 1048 us
    expect_seconds(job.simulate()->ranks[1].seconds, 1048 * kMicroseconds);
  }
}

// Rank 0 has the element, and sends it to rank 1: 0.08 us and the latency.
TEST(Simulation, ElementsAreSentToAllRanks) {
  TwoRanks job;
  job.mark({.operands = {job.x()}, .work = step::Assert{}});
  expect_seconds(job.simulate()->ranks[1].seconds, 1000.08 * kMicroseconds);
}

TEST(Simulation, StepsThatDependOnDataAreRefused) {
  TwoRanks branch;
  branch.mark({.name = "choice", .operands = {branch.x()}, .work = step::If{}});
  branch.mark({.work = step::Else{.begin = 0}});
  branch.mark({.work = step::EndIf{.begin = 0}});
  const Status status = branch.simulate().status();
  EXPECT_EQ(status.code(), StatusCode::kUnsupported);
  EXPECT_EQ(status.message(),
            "the time is not known: data determine the steps of if \"choice\" that are executed");
  TwoRanks loop;
  loop.function().segments.resize(2);
  loop.mark({.segment = SegmentIndex{1}, .work = step::Loop{.trip_count = kCount}});
  loop.mark({.operands = {loop.x()}, .work = step::EndLoop{.begin = 0, .has_condition = true}});
  EXPECT_EQ(loop.simulate().status().code(), StatusCode::kUnsupported);
}

TEST(Simulation, CallsAreRefused) {
  TwoRanks job;
  job.mark({.name = "block", .work = step::Call{}});
  EXPECT_EQ(job.simulate().status().message(),
            "the time is not known: call \"block\" is not inlined");
}

TEST(Simulation, SizesWithoutAValueAreRefused) {
  TwoRanks job;
  job.launch(0, {memory::add_input(job.function(), {DimExpr::symbol("m")})});
  EXPECT_EQ(job.simulate().status().message(), "the time is not known: the size 4*m has no value");
}

TEST(Simulation, LongLoopsAreRefused) {
  TwoRanks job;
  job.function().segments.resize(2);
  job.mark(
      {.segment = SegmentIndex{1}, .work = step::Loop{.trip_count = DimExpr(int64_t{1} << 40)}});
  job.mark({.work = step::EndLoop{.begin = 0}});
  const Status status = job.simulate().status();
  EXPECT_EQ(status.code(), StatusCode::kResourceLimit);
  EXPECT_EQ(status.message(), "the time is not known: a request executes more than 1000000 steps");
}

}  // namespace
}  // namespace scopevm::compiler::simulation
