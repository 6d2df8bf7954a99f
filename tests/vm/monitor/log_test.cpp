// The log: who receives which messages, and the messages of submitted calls.
#include "scopevm/log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "runtime/log.h"
#include "tests/vm/admission/scheduler_calls.h"
#include "tests/vm/modules/test_modules.h"

namespace scopevm {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Receives the messages of the process until it is destroyed.
class Received {
 public:
  explicit Received(LogSeverity least) {
    EXPECT_TRUE(set_log(
                    [this](const LogMessage& message) {
                      const std::lock_guard lock(mutex_);
                      messages.push_back(std::string(message.text));
                      ids.push_back(message.request_id);
                      severities.push_back(message.severity);
                    },
                    least)
                    .ok());
  }
  ~Received() { EXPECT_TRUE(set_log({}).ok()); }
  std::vector<std::string> messages;
  std::vector<uint64_t> ids;
  std::vector<LogSeverity> severities;

 private:
  std::mutex mutex_;
};

TEST(Log, ReportsFromTheLeastSeverity) {
  EXPECT_FALSE(runtime::is_logged(LogSeverity::kError));
  runtime::log(LogSeverity::kError, "discarded");
  {
    const Received received(LogSeverity::kWarning);
    EXPECT_FALSE(runtime::is_logged(LogSeverity::kInfo));
    runtime::log(LogSeverity::kInfo, "info");
    runtime::log(LogSeverity::kWarning, "warning", 5);
    runtime::log(LogSeverity::kError, "error");
    EXPECT_THAT(received.messages, ElementsAre("warning", "error"));
    EXPECT_THAT(received.ids, ElementsAre(5, 0));
  }
  EXPECT_FALSE(runtime::is_logged(LogSeverity::kError));
}

TEST(Log, FunctionCannotRecurOrReplaceItself) {
  int calls = 0;
  Status replaced;
  ASSERT_TRUE(set_log([&](const LogMessage&) {
                ++calls;
                runtime::log(LogSeverity::kError, "again");
                replaced = set_log({});
                throw std::runtime_error("the disk is full");
              }).ok());
  runtime::log(LogSeverity::kError, "once");
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(replaced.code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(replaced.message(), "the function of the log must not replace itself");
  ASSERT_TRUE(set_log({}).ok());
}

// A function that was replaced is not called afterwards.
TEST(Log, ReplacementWaitsForTheFunction) {
  std::atomic<bool> is_done = false;
  std::jthread reporter([&] {
    while (!is_done) runtime::log(LogSeverity::kError, "message");
  });
  for (int i = 0; i < 200; ++i) {
    auto is_set = std::make_unique<std::atomic<bool>>(true);
    ASSERT_TRUE(set_log([flag = is_set.get()](const LogMessage&) { EXPECT_TRUE(*flag); }).ok());
    ASSERT_TRUE(set_log({}).ok());
    *is_set = false;
  }
  is_done = true;
}

TEST(Log, HasFailuresOfSubmittedCalls) {
  const Scheduler scheduler =
      *Scheduler::create({.workers = 1, .capacities = {{test::kGlobal, 64}}});
  const Session session = test::session_on(scheduler, test::sum_contents());
  Call call = test::sum_call(session, 2), late = test::sum_call(session, 4);
  const Received received(LogSeverity::kWarning);
  ASSERT_TRUE(call.submit().ok());
  ASSERT_TRUE(call.wait().ok());  // its result leaves no room for the other call
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(1);
  ASSERT_TRUE(late.submit({.call = {.deadline = deadline, .request_id = 12}}).ok());
  EXPECT_EQ(late.wait().code(), StatusCode::kDeadlineExceeded);
  // Cancelled calls are expected.
  ASSERT_TRUE(late.submit().ok());
  late.cancel();
  EXPECT_EQ(late.wait().code(), StatusCode::kCancelled);
  EXPECT_THAT(received.messages,
              ElementsAre("a submitted call failed: the call's deadline passed before it was "
                          "started"));
  EXPECT_THAT(received.ids, ElementsAre(12));
  EXPECT_THAT(received.severities, ElementsAre(LogSeverity::kWarning));
  // A call that fails on the calling thread returns its error there.
  const Session direct = *Session::create(test::load(test::sum_contents()));
  Call empty = *direct.make_call();
  EXPECT_FALSE(empty.run().ok());
  EXPECT_EQ(received.messages.size(), 1U);
}

}  // namespace
}  // namespace scopevm
