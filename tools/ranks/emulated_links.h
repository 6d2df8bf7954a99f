// A transport whose messages take the time of slower links, so that the plans of a job can be
// studied on one machine. docs/ranks.md describes the model.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "scopevm/c/transport.h"
#include "scopevm/status.h"

namespace scopevm::tool {

struct EmulatedLink {
  double bytes_per_second = 0;
  double latency_seconds = 0;
};

// "1e9:5e-6": bytes per second and seconds. Errors: kInvalidArgument.
Result<EmulatedLink> parse_link(const std::string& text);

// A message arrives `latency_seconds` after its last byte has left, and the messages from one rank
// to another leave one after the other: those with one tag in the order in which they were sent,
// others in the order of test(). All ranks of the job must use this, on one machine: each
// message is sent with the time of its start.
class EmulatedLinks {
 public:
  // `inner` must outlive the object.
  EmulatedLinks(const scopevm_transport& inner, EmulatedLink link);
  EmulatedLinks(const EmulatedLinks&) = delete;
  EmulatedLinks& operator=(const EmulatedLinks&) = delete;

  // Valid as long as the object.
  const scopevm_transport* transport() const { return &c_; }

 private:
  using Clock = std::chrono::steady_clock;

  struct Operation {
    int64_t started_ns = 0;  // the bytes of the message that precedes the other one
    void* start = nullptr;   // null: it has ended
    void* message = nullptr;
    int64_t bytes = 0;
    int from = -1;  // of a message that is received
    Clock::time_point arrival = {};
  };

  void* begin(int peer, int tag, void* data, int64_t bytes, bool is_receive);
  int test(Operation& operation);
  // Tests one of the two; the result is that of the transport.
  int end(void*& part);
  void cancel(const Operation& operation);
  Clock::time_point arrival_of(const Operation& received);

  const scopevm_transport& inner_;
  const EmulatedLink link_;
  scopevm_transport c_;
  std::vector<Clock::time_point> free_;  // by rank: when the link from it has sent all until now
};

}  // namespace scopevm::tool
