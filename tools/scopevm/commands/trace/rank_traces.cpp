// Rank 0 finds the difference of the clocks by messages that go to a rank and back, as the Network
// Time Protocol (RFC 5905, section 8), and tells it what its times are relative to.
#include "tools/scopevm/commands/trace/rank_traces.h"

#include <chrono>
#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/without_exceptions.h"
#include "tools/command_line/exit_code.h"
#include "tools/files/standard_streams.h"
#include "tools/ranks/exchange.h"

namespace scopevm::tool {
namespace {

using std::chrono::nanoseconds;

constexpr int kRounds = 20;
// Instead of a time: rank 0 does not wait for the rank.
constexpr nanoseconds kLeftOut = nanoseconds::min();
constexpr auto kMostWait = std::chrono::seconds(5);

nanoseconds now() { return std::chrono::steady_clock::now().time_since_epoch(); }

std::vector<char> bytes_of(nanoseconds time) {
  const int64_t count = time.count();
  std::vector<char> bytes(sizeof count);
  std::memcpy(bytes.data(), &count, sizeof count);
  return bytes;
}

void send_time(Exchange& exchange, int to, nanoseconds time) { exchange.send(to, bytes_of(time)); }

nanoseconds receive_time(Exchange& exchange, int from) {
  std::vector<char> bytes(sizeof(int64_t));
  exchange.receive(from, bytes);
  int64_t count = 0;
  std::memcpy(&count, bytes.data(), sizeof count);
  return nanoseconds(count);
}

// The clock of the rank minus that of this one.
nanoseconds difference_of_clock(Exchange& exchange, int rank) {
  nanoseconds shortest = nanoseconds::max(), difference{0};
  for (int i = 0; i < kRounds; ++i) {
    const nanoseconds sent = now();
    send_time(exchange, rank, sent);
    const nanoseconds there = receive_time(exchange, rank), received = now();
    if (received - sent >= shortest) continue;
    shortest = received - sent;
    difference = there - (sent + received) / 2;
  }
  return difference;
}

// Adds the events of the other ranks.
Status gather_traces(const scopevm_transport& transport, TraceFile& trace) {
  Exchange exchange(transport);
  for (int rank = 1; rank < transport.ranks; ++rank) send_time(exchange, rank, now());
  std::vector<int> ranks;  // that have events
  const auto last = std::chrono::steady_clock::now() + kMostWait;
  for (int rank = 1; rank < transport.ranks; ++rank) {
    if (exchange.has_message_before(rank, last)) {
      (void)receive_time(exchange, rank);
      ranks.push_back(rank);
      continue;
    }
    SCOPEVM_RETURN_IF_ERROR(exchange.status());
    send_time(exchange, rank, kLeftOut);
    print_message(
        stderr, "scopevm: warning: rank {} has sent no trace: expected --trace there, too\n", rank);
  }
  for (const int rank : ranks)
    send_time(exchange, rank, trace.zero() + difference_of_clock(exchange, rank));
  for (const int rank : ranks) {
    std::string part = exchange.receive_text(rank);
    for (; !part.empty(); part = exchange.receive_text(rank)) trace.add(part);
  }
  return exchange.status();
}

// Sends the events to rank 0.
Status offer_trace(const scopevm_transport& transport, TraceFile& trace) {
  Exchange exchange(transport);
  nanoseconds zero = kLeftOut;
  if (exchange.has_message_before(0, std::chrono::steady_clock::now() + kMostWait))
    for (int i = 0; i <= kRounds + 1; ++i) {
      zero = receive_time(exchange, 0);
      if (zero == kLeftOut) break;
      if (i <= kRounds) send_time(exchange, 0, now());
    }
  SCOPEVM_RETURN_IF_ERROR(exchange.status());
  if (zero == kLeftOut) {
    print_message(stderr, "scopevm: warning: rank 0 has not collected the trace of rank {}\n",
                  transport.rank);
    return {};
  }
  SCOPEVM_RETURN_IF_ERROR(
      trace.read(zero, [&](const std::string& part) { exchange.send_text(0, part); }));
  exchange.send_text(0, "");  // the end
  return exchange.status();
}

}  // namespace

Status run_traced(const scopevm_transport* transport, TraceFile& trace, const std::string& path,
                  const std::function<Status(bool& has_session)>& run) {
  bool has_session = false;
  Status status = runtime::without_exceptions([&] { return run(has_session); });
  const bool is_follower = transport != nullptr && transport->rank > 0;
  // When rank 0 releases its session, follow() of the others succeeds.
  if (transport != nullptr && !status.ok() && (is_follower || !has_session)) exit_from_job(status);
  if (path.empty()) return status;
  if (transport != nullptr) {
    // Also after an error: the other ranks wait.
    const Status exchanged = runtime::without_exceptions([&] {
      return is_follower ? offer_trace(*transport, trace) : gather_traces(*transport, trace);
    });
    if (!exchanged.ok()) exit_from_job(status.ok() ? exchanged : status);
  }
  return status.ok() && !is_follower ? trace.write(path) : status;
}

}  // namespace scopevm::tool
