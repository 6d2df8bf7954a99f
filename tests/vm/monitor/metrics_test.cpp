// Metrics: each request is counted once, under its outcome, and the text is valid.
#include "scopevm/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "tests/vm/admission/scheduler_calls.h"
#include "tests/vm/modules/test_modules.h"
#include "tests/vm/monitor/prometheus_parser.h"

namespace scopevm {
namespace {

using test::PrometheusParser;
using ::testing::HasSubstr;
using Clock = std::chrono::steady_clock;

Session sum_session(SessionOptions options = {}) {
  return *Session::create(test::load(test::sum_contents()), std::move(options));
}

std::string text_of(const Session& session) {
  return *prometheus_text(std::vector<MetricsSource>{{"sum", session}});
}

double requests(PrometheusParser& parser, const std::string& outcome,
                const std::string& model = "sum") {
  return parser.value("scopevm_requests_total", {{"model", model}, {"outcome", outcome}});
}

TEST(Metrics, CountsRequestsByOutcome) {
  const Session session = sum_session({.memory_limits = {{"global", 64}}});
  Call call = test::sum_call(session, 2);
  EXPECT_TRUE(call.run().ok());
  EXPECT_TRUE(call.run().ok());
  const std::atomic<bool> cancel = true;
  EXPECT_EQ(call.run({.cancel = &cancel}).code(), StatusCode::kCancelled);
  EXPECT_EQ(call.run({.deadline = Clock::now()}).code(), StatusCode::kDeadlineExceeded);
  Call large = test::sum_call(session, 5);
  EXPECT_EQ(large.run().code(), StatusCode::kResourceLimit);
  Call empty = *session.make_call();
  EXPECT_EQ(empty.run().code(), StatusCode::kInvalidArgument);
  PrometheusParser parser(text_of(session));
  EXPECT_EQ(requests(parser, "success"), 2);
  for (const char* once : {"cancelled", "deadline", "memory", "invalid"})
    EXPECT_EQ(requests(parser, once), 1) << once;
  EXPECT_EQ(requests(parser, "other"), 0);
  EXPECT_EQ(parser.value("scopevm_requests_in_flight", {{"model", "sum"}}), 0);
  // A request without valid inputs does not run.
  EXPECT_EQ(parser.value("scopevm_request_run_seconds", {{"model", "sum"}}, "_count"), 5);
}

TEST(Metrics, HasTheBytesOfPools) {
  const Session session = sum_session({.memory_limits = {{"global", 4096}}});
  Call call = test::sum_call(session, 4);
  ASSERT_TRUE(call.run().ok());
  PrometheusParser parser(text_of(session));
  const test::Labels global{{"model", "sum"}, {"device", "cpu"}, {"scope", "global"}};
  EXPECT_EQ(parser.value("scopevm_pool_live_bytes", global), 64);  // the result
  EXPECT_EQ(parser.value("scopevm_pool_peak_bytes", global), 64);
  EXPECT_EQ(parser.value("scopevm_pool_limit_bytes", global), 4096);
  EXPECT_EQ(parser.metrics["scopevm_pool_limit_bytes"].samples.size(), 1U);
}

TEST(Metrics, EscapesLabels) {
  const std::string name = "a\"b\\c\nd\xc3\xa9{},=";
  const Session session = sum_session();
  PrometheusParser parser(
      *prometheus_text(std::vector<MetricsSource>{{name, session}, {"", session}}));
  EXPECT_EQ(requests(parser, "success", name), 0);
  EXPECT_EQ(requests(parser, "success", ""), 0);
}

TEST(Metrics, RefusesNamesThatAreEqualInTheText) {
  const Session session = sum_session();
  const auto text =
      prometheus_text(std::vector<MetricsSource>{{"a\xff", session}, {"a\xfe", session}});
  EXPECT_EQ(text.status().code(), StatusCode::kInvalidArgument);
}

TEST(Metrics, ReplacesBytesThatAreNotUtf8) {
  const Session session = sum_session();
  PrometheusParser parser(
      *prometheus_text(std::vector<MetricsSource>{{"a\xff\xc3(\xe2\x82", session}}));
  EXPECT_EQ(requests(parser, "success", "a\xef\xbf\xbd\xef\xbf\xbd(\xef\xbf\xbd\xef\xbf\xbd"), 0);
}

TEST(Metrics, RefusesEqualNames) {
  const Session session = sum_session();
  const auto text = prometheus_text(std::vector<MetricsSource>{{"a", session}, {"a", session}});
  EXPECT_EQ(text.status().code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(text.status().message()),
              HasSubstr("two sources of metrics have the name \"a\""));
}

TEST(Metrics, SessionsOfASchedulerShareItsMetrics) {
  const Scheduler scheduler =
      *Scheduler::create({.workers = 2, .capacities = {{"cpu.global", 100}}});
  const Session alone = sum_session(), first = sum_session({.scheduler = scheduler}),
                second = sum_session({.scheduler = scheduler});
  Call held = test::sum_call(first, 2), waiting = test::sum_call(second, 5);
  ASSERT_TRUE(held.run().ok());
  ASSERT_TRUE(waiting.submit().ok());
  Call refused = test::sum_call(second, 50);
  EXPECT_EQ(refused.submit().code(), StatusCode::kResourceLimit);
  const std::vector<MetricsSource> sources{{"alone", alone}, {"first", first}, {"second", second}};
  {
    PrometheusParser parser(*prometheus_text(sources));
    const test::Labels pool{{"scheduler", "1"}, {"pool", "cpu.global"}};
    EXPECT_EQ(parser.value("scopevm_scheduler_pool_held_bytes", pool), 32);
    EXPECT_EQ(parser.value("scopevm_scheduler_pool_reserved_bytes", pool), 0);
    EXPECT_EQ(parser.value("scopevm_scheduler_pool_capacity_bytes", pool), 100);
    EXPECT_EQ(parser.value("scopevm_scheduler_workers", {{"scheduler", "1"}}), 2);
    EXPECT_EQ(parser.metrics["scopevm_scheduler_workers"].samples.size(), 1U);
    EXPECT_EQ(parser.value("scopevm_scheduler_requests",
                           {{"scheduler", "1"}, {"state", "waiting_for_memory"}}),
              1);
    EXPECT_EQ(parser.value("scopevm_requests_in_flight", {{"model", "second"}}), 1);
    EXPECT_EQ(requests(parser, "memory", "second"), 1);
  }
  held.clear_outputs();
  ASSERT_TRUE(waiting.wait().ok());
  PrometheusParser parser(*prometheus_text(sources));
  EXPECT_EQ(parser.value("scopevm_requests_in_flight", {{"model", "second"}}), 0);
  EXPECT_EQ(requests(parser, "success", "second"), 1);
  for (const char* name :
       {"scopevm_request_memory_wait_seconds", "scopevm_request_worker_wait_seconds"})
    EXPECT_EQ(parser.value(name, {{"model", "second"}}, "_count"), 1) << name;
}

// Random requests of several threads, some of which fail, while another thread reads the metrics.
TEST(Metrics, CountsEachRequestOnce) {
  const Scheduler scheduler =
      *Scheduler::create({.workers = 2, .capacities = {{"cpu.global", 256}}});
  const Session session = sum_session({.scheduler = scheduler});
  constexpr int kThreads = 3, kRequests = 100;
  std::array<std::atomic<int>, 2> ended{};  // failures, successes
  std::atomic<bool> is_done = false;
  std::jthread reader([&] {
    while (!is_done) PrometheusParser parser(text_of(session));
  });
  {
    std::vector<std::jthread> clients;
    for (int thread = 0; thread < kThreads; ++thread)
      clients.emplace_back([&, thread] {
        std::mt19937 random(static_cast<unsigned>(thread));
        for (int i = 0; i < kRequests; ++i) {
          // More than 16 rows exceed the capacity.
          Call call = test::sum_call(session, 1 + static_cast<int64_t>(random() % 20));
          CallOptions options;
          if (random() % 4 == 0)
            options.deadline = Clock::now() + std::chrono::microseconds(random() % 100);
          ++ended[call.run(options).ok() ? 1 : 0];
        }
      });
  }
  is_done = true;
  reader.join();
  PrometheusParser parser(text_of(session));
  double failures = 0;
  for (const char* outcome : {"deadline", "cancelled", "memory", "invalid", "other"})
    failures += requests(parser, outcome);
  EXPECT_EQ(requests(parser, "success"), ended[1]);
  EXPECT_EQ(failures, ended[0]);
  EXPECT_GT(ended[0], 0);
  EXPECT_EQ(requests(parser, "success") + failures, kThreads * kRequests);
  EXPECT_EQ(parser.value("scopevm_requests_in_flight", {{"model", "sum"}}), 0);
}

}  // namespace
}  // namespace scopevm
