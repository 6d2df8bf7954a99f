// Jobs of several ranks, whose sessions run in threads: results, memory, errors of a rank,
// interrupts, and the loss of a rank.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <random>
#include <set>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "scopevm/compiler.h"
#include "scopevm/module.h"
#include "tests/ranks/local_ranks.h"
#include "tests/ranks/sum_module.h"

namespace scopevm {
namespace {

using testing::HasSubstr;

TEST(Ranks, ComputeTheResultsOfOneProcess) {
  const Module module = sum();
  EXPECT_EQ(module.ranks(), 3);
  for (int64_t eager_bytes : {0, 64, 1 << 20}) {
    LocalRanks ranks(module, 3, eager_bytes);
    ASSERT_TRUE(ranks.leader().ok()) << ranks.leader().status().message();
    for (int64_t n : {1, 7, 1000, 100000}) expect_sum(ranks.leader()->call({{numbers(n)}}), n);
    EXPECT_EQ(ranks.job().left(), 0);
    for (const Status& followed : ranks.finish()) EXPECT_TRUE(followed.ok()) << followed.message();
  }
}

// The peak of a pool is that of its rank.
TEST(Ranks, NeedTheMemoryOfTheBound) {
  const Module module = sum();
  LocalRanks ranks(module, 3);
  ASSERT_TRUE(ranks.leader().ok());
  Call call = *ranks.leader()->make_call();
  ASSERT_TRUE(call.set_input(0, numbers(1000)).ok());
  ASSERT_TRUE(call.run().ok());
  const MemoryBound bound = *module.memory_bound({{"n", 1000}});
  std::map<std::string, int64_t> peaks;
  for (const ScopeUse& use : call.stats().memory) {
    int64_t expected = 0;
    for (const ScopeBound& scope : bound.scopes)
      if (scope.device == use.device && scope.scope == use.scope) expected = scope.bytes;
    EXPECT_EQ(use.peak_bytes, expected) << use.device << " " << use.scope;
    peaks[std::string(use.device)] += use.peak_bytes;
  }
  EXPECT_GT(peaks["one"], 0);
  EXPECT_GT(peaks["two"], 0);
}

// Each rank is as slow as its own memory: rank 0 has no launch, and its copies are messages.
TEST(Ranks, EmulateTheirOwnParts) {
  const Module module = compiled(kSum, {"type:add=one", "type:mul=two", "type:sub=one"}, R"({
    "devices": [{"name": "cpu", "kind": "cpu"}, {"name": "one", "kind": "cpu", "rank": 1},
                {"name": "two", "kind": "cpu", "rank": 2}],
    "pools": [{"device": "cpu", "scope": "global", "latency_seconds": 1e-4},
              {"device": "one", "scope": "global.workspace", "latency_seconds": 1e-4}]})");
  SessionOptions options;
  options.emulate = true;
  const auto emulated_seconds = [](const Session& session) {
    Call call = *session.make_call();
    EXPECT_TRUE(call.set_input(0, numbers(1000)).ok());
    EXPECT_TRUE(call.run().ok());
    return call.stats().emulated_seconds;
  };
  EXPECT_GT(emulated_seconds(*Session::create(module, options)), 0);
  LocalRanks ranks(module, 3, 64, [&](int) { return options; });
  ASSERT_TRUE(ranks.leader().ok()) << ranks.leader().status().message();
  EXPECT_EQ(emulated_seconds(*ranks.leader()), 0);
}

// The limit of a rank's session fails its part of the request. The next request is not affected.
// The values of calls, which are sent, are in memory of the transport; results can outlive it.
TEST(Ranks, AllocateMemoryOfTheTransport) {
  const Module module = sum();
  LocalRanks ranks(module, 3);
  ASSERT_TRUE(ranks.leader().ok());
  const auto results = ranks.leader()->call({{numbers(1000)}});
  expect_sum(results, 1000);
  const int64_t taken = ranks.job().blocks_taken();
  EXPECT_GT(taken, 0);
  expect_sum(ranks.leader()->call({{numbers(1000)}}), 1000);
  EXPECT_EQ(ranks.job().blocks_taken(), taken);
  for (const Status& followed : ranks.finish()) EXPECT_TRUE(followed.ok()) << followed.message();
  EXPECT_EQ(ranks.job().blocks(), 0);
  expect_sum(results, 1000);
}

// A transport without memory, as programs for earlier releases have it.
TEST(Ranks, NeedNoMemoryOfTheTransport) {
  const Module module = sum();
  LocalJob job(3);
  std::vector<scopevm_transport> transports;
  for (int rank = 0; rank < 3; ++rank) {
    transports.push_back(*job.transport(rank));
    transports.back().struct_size = offsetof(scopevm_transport, allocate);
  }
  std::vector<std::thread> threads;
  for (size_t rank = 1; rank < 3; ++rank)
    threads.emplace_back([&, rank] {
      const Session session = *Session::create(module, {.transport = &transports[rank]});
      EXPECT_TRUE(session.follow().ok());
    });
  {
    const Session session = *Session::create(module, {.transport = &transports[0]});
    expect_sum(session.call({{numbers(1000)}}), 1000);
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(job.blocks_taken(), 0);
}

TEST(Ranks, ReportTheErrorOfARank) {
  const Module module = sum();
  for (const char* scope : {"one.global.workspace", "two.global.workspace", "cpu.global"}) {
    SCOPED_TRACE(scope);
    const std::string device = std::string(scope).substr(0, 3);
    const int limited = device == "one" ? 1 : device == "two" ? 2 : 0;
    LocalRanks ranks(module, 3, 64, [&](int rank) {
      SessionOptions options;
      if (rank == limited) options.memory_limits = {{scope, 4096}};
      return options;
    });
    ASSERT_TRUE(ranks.leader().ok()) << ranks.leader().status().message();
    for (int i = 0; i < 20; ++i) {
      const auto large = ranks.leader()->call({{numbers(100000)}});
      ASSERT_FALSE(large.ok());
      EXPECT_EQ(large.status().code(), StatusCode::kResourceLimit) << large.status().message();
      expect_sum(ranks.leader()->call({{numbers(100)}}), 100);
    }
    EXPECT_EQ(ranks.job().left(), 0);
  }
}

// The devices of launches and copies by request, and the names of the other events.
class TracedDevices final : public TraceSink {
 public:
  void record(const TraceEvent& event) override {
    const bool is_op =
        event.kind == TraceEvent::Kind::kLaunch || event.kind == TraceEvent::Kind::kCopy;
    requests[event.request_id].emplace(is_op ? event.device : event.name);
  }

  std::map<uint64_t, std::set<std::string>> requests;
};

// Each rank has the events of its own launches and messages, in the requests that rank 0 traces.
TEST(Ranks, TraceTheirParts) {
  using testing::UnorderedElementsAre;
  const Module module = sum();
  TracedDevices traces[3];
  LocalRanks ranks(module, 3, 64, {}, {}, {&traces[1], &traces[2]});
  ASSERT_TRUE(ranks.leader().ok());
  for (const uint64_t id : {7, 0, 9}) {
    CallOptions options;
    options.request_id = id;
    if (id != 0) options.trace = traces;
    expect_sum(ranks.leader()->call({{numbers(1000)}}, options), 1000);
  }
  for (const Status& followed : ranks.finish()) ASSERT_TRUE(followed.ok()) << followed.message();
  for (const TracedDevices& trace : traces) {
    ASSERT_EQ(trace.requests.size(), 2u);
    EXPECT_EQ(trace.requests.at(7), trace.requests.at(9));
  }
  EXPECT_THAT(traces[0].requests.at(7), UnorderedElementsAre("", "main", "one"));
  EXPECT_THAT(traces[1].requests.at(7), UnorderedElementsAre("", "main", "one", "cpu", "two"));
  EXPECT_THAT(traces[2].requests.at(7), UnorderedElementsAre("", "main", "two", "one"));
}

TEST(Ranks, GoOnAfterInterrupts) {
  const Module module = sum();
  LocalRanks ranks(module, 3);
  ASSERT_TRUE(ranks.leader().ok());
  std::mt19937 random(1);
  int interrupted = 0;
  for (int i = 0; i < 500; ++i) {
    CallOptions options;
    options.deadline = std::chrono::steady_clock::now() +
                       std::chrono::microseconds(static_cast<int>(random() % 400));
    const auto results = ranks.leader()->call({{numbers(20000)}}, options);
    if (results.ok()) {
      expect_sum(results, 20000);
    } else {
      EXPECT_EQ(results.status().code(), StatusCode::kDeadlineExceeded)
          << results.status().message();
      ++interrupted;
    }
    if (i % 10 == 0) expect_sum(ranks.leader()->call({{numbers(50)}}), 50);
  }
  EXPECT_GT(interrupted, 0);
  expect_sum(ranks.leader()->call({{numbers(50)}}), 50);
  EXPECT_EQ(ranks.job().left(), 0);
}

TEST(Ranks, FailForEverWithoutARank) {
  const Module module = sum();
  LocalRanks ranks(module, 3);
  ASSERT_TRUE(ranks.leader().ok());
  expect_sum(ranks.leader()->call({{numbers(50)}}), 50);
  ranks.job().kill(2);
  for (int i = 0; i < 2; ++i) {
    const auto results = ranks.leader()->call({{numbers(50)}});
    ASSERT_FALSE(results.ok());
    EXPECT_EQ(results.status().code(), StatusCode::kDevice);
    EXPECT_THAT(std::string(results.status().message()), HasSubstr("rank 2 has ended"));
  }
  for (const Status& followed : std::span(ranks.finish()).subspan(1))
    EXPECT_THAT(std::string(followed.message()), HasSubstr("rank 2 has ended"));
}

TEST(Ranks, RefuseOtherJobsAndCalls) {
  const Module module = sum();
  LocalJob small(2);
  const auto refused = Session::create(module, {.transport = small.transport(0)});
  EXPECT_THAT(std::string(refused.status().message()),
              HasSubstr("the module is for 3 ranks, but this process is rank 0 of 2"));
  scopevm_transport old = *small.transport(0);
  old.abi_version = 0;
  EXPECT_THAT(std::string(Session::create(module, {.transport = &old}).status().message()),
              HasSubstr("the transport has ABI version 0, expected 1"));
  const Session alone = *Session::create(module);
  expect_sum(alone.call({{numbers(9)}}), 9);  // all ranks are in this process
  EXPECT_THAT(std::string(alone.follow().message()),
              HasSubstr("the session has no transport: it has all ranks"));
  Status called;
  LocalRanks ranks(module, 3, 64, {}, [&](int rank, const Session& session) {
    if (rank == 2) called = session.call({{numbers(9)}}).status();
  });
  EXPECT_THAT(std::string(ranks.leader()->follow().message()),
              HasSubstr("this process is rank 0, which makes the calls"));
  (void)ranks.finish();
  EXPECT_THAT(std::string(called.message()),
              HasSubstr("this process is rank 2: its session runs "
                        "the requests of rank 0 (Session::follow())"));
}

TEST(Ranks, LoadTransports) {
  EXPECT_THAT(std::string(Transport::load("missing").status().message()),
              HasSubstr("transport \"missing\": libscopevm_missing.so: cannot open"));
}

TEST(Ranks, NeedTheSameModule) {
  const Module module = sum();
  const Module other = compiled(kSum, {"type:add=two", "type:mul=one"});
  LocalJob job(3);
  std::vector<Status> created(3);
  std::vector<std::thread> threads;
  for (int rank = 1; rank < 3; ++rank)
    threads.emplace_back([&, rank] {
      created[static_cast<size_t>(rank)] =
          Session::create(rank == 1 ? other : module, {.transport = job.transport(rank)}).status();
    });
  created[0] = Session::create(module, {.transport = job.transport(0)}).status();
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(std::string(created[0].message()),
              HasSubstr("rank 1: another module than that of rank 0"));
  EXPECT_THAT(std::string(created[1].message()),
              HasSubstr("rank 0, rank 2: another module than that of rank 1"));
}

// The end of a session and the greeting of the next one arrive at the same time.
TEST(Ranks, StartASessionAfterAnother) {
  const Module module = sum();
  LocalJob job(3);
  const auto create = [&](int rank) {
    return Session::create(module, {.transport = job.transport(rank)});
  };
  std::vector<std::thread> threads;
  for (int rank = 1; rank < 3; ++rank)
    threads.emplace_back([&, rank] {
      {
        const auto first = create(rank);
        ASSERT_TRUE(first.ok()) << first.status().message();
        // The greetings of three ranks, and the ends and next greetings of rank 0.
        while (job.sent() < 6 + 2 + 2) std::this_thread::yield();
        EXPECT_TRUE(first->follow().ok());
      }
      const auto second = create(rank);
      ASSERT_TRUE(second.ok()) << second.status().message();
      EXPECT_TRUE(second->follow().ok());
    });
  {
    const auto first = create(0);
    ASSERT_TRUE(first.ok()) << first.status().message();
  }
  {
    const auto second = create(0);
    ASSERT_TRUE(second.ok()) << second.status().message();
    expect_sum(second->call({{numbers(100)}}), 100);
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(Ranks, HaveNoExecutionHook) {
  struct Hook final : ExecutionHook {
    bool at(const ExecutionState&) override { return true; }
  } hook;
  const Module module = sum();
  LocalRanks ranks(module, 3);
  CallOptions options;
  options.hook = &hook;
  EXPECT_THAT(std::string(ranks.leader()->call({{numbers(5)}}, options).status().message()),
              HasSubstr("an execution hook sees one rank only: run without ranks"));
  expect_sum(ranks.leader()->call({{numbers(5)}}), 5);
}

}  // namespace
}  // namespace scopevm
