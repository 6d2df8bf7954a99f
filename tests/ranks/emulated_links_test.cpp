// Messages over emulated links: their contents, order and times.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "tests/ranks/local_transport.h"
#include "tools/ranks/emulated_links.h"

namespace scopevm::tool {
namespace {

using testing::HasSubstr;
using Clock = std::chrono::steady_clock;

void wait_for(const scopevm_transport& transport, void* operation) {
  int state = SCOPEVM_TRANSPORT_PENDING;
  while (state == SCOPEVM_TRANSPORT_PENDING) state = transport.test(transport.context, operation);
  EXPECT_EQ(state, SCOPEVM_TRANSPORT_DONE);
}

TEST(EmulatedLinks, DelayMessages) {
  for (int64_t eager_bytes : {0, 1 << 20}) {
    LocalJob job(2, eager_bytes);
    const EmulatedLink link = {.bytes_per_second = 1e6, .latency_seconds = 0.01};
    EmulatedLinks sender(*job.transport(0), link), receiver(*job.transport(1), link);
    const std::vector<std::string> sent = {std::string(5000, 'a'), std::string(10000, 'b'), "c"};
    const Clock::time_point began = Clock::now();
    std::thread sending([&] {
      const scopevm_transport& transport = *sender.transport();
      EXPECT_EQ(transport.rank, 0);
      std::vector<void*> operations;
      for (const std::string& text : sent)
        operations.push_back(transport.send(transport.context, 1, 1, text.data(),
                                            static_cast<int64_t>(text.size())));
      for (void* operation : operations) wait_for(transport, operation);
    });
    const scopevm_transport& transport = *receiver.transport();
    int64_t microseconds = 10000;
    for (const std::string& text : sent) {
      std::string received(text.size(), ' ');
      wait_for(transport, transport.receive(transport.context, 0, 1, received.data(),
                                            static_cast<int64_t>(received.size())));
      EXPECT_EQ(received, text);
      // At the earliest: the messages leave one after the other.
      microseconds += static_cast<int64_t>(text.size());
      EXPECT_GE(Clock::now() - began, std::chrono::microseconds(microseconds));
    }
    sending.join();
    EXPECT_EQ(job.left(), 0);
  }
}

TEST(EmulatedLinks, GiveUpOperations) {
  LocalJob job(2);
  EmulatedLinks links(*job.transport(1), {.bytes_per_second = 1e6, .latency_seconds = 0});
  const scopevm_transport& transport = *links.transport();
  int number = 0;
  void* const given_up = transport.receive(transport.context, 0, 1, &number, sizeof number);
  EXPECT_EQ(transport.test(transport.context, given_up), SCOPEVM_TRANSPORT_PENDING);
  transport.cancel(transport.context, given_up);
  EXPECT_EQ(transport.probe(transport.context, 0, 1), -1);
  void* const failed = transport.receive(transport.context, 0, 1, &number, sizeof number);
  job.kill(0);
  EXPECT_EQ(transport.test(transport.context, failed), SCOPEVM_TRANSPORT_FAILED);
  EXPECT_THAT(transport.error(transport.context), HasSubstr("rank 0 has ended"));
}

TEST(EmulatedLinks, ParseTheirSpeed) {
  const Result<EmulatedLink> link = parse_link("1e9:5e-6");
  ASSERT_TRUE(link.ok());
  EXPECT_EQ(link->bytes_per_second, 1e9);
  EXPECT_EQ(link->latency_seconds, 5e-6);
  for (const char* text : {"", "1e9", ":", "1e9:", "1e9:x", "x:0", "100:0", "1e9:2", "-1e9:0",
                           "1e9:-1", "nan:0", "1e9:nan", "1e9:0 "})
    EXPECT_THAT(
        std::string(parse_link(text).status().message()),
        HasSubstr(": expected BYTES_PER_SECOND:SECONDS, such as 1e9:5e-6, with at least 1000 "
                  "bytes per second and at most 1 second"))
        << text;
}

}  // namespace
}  // namespace scopevm::tool
