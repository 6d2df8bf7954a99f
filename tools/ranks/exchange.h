// Messages between the ranks of a job outside of requests.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "scopevm/c/transport.h"
#include "scopevm/status.h"

namespace scopevm::tool {

// One exchange of messages at a time, while no session uses the transport. After an error,
// exchanges have no effect.
class Exchange {
 public:
  // `transport` must outlive the exchange.
  explicit Exchange(const scopevm_transport& transport) : transport_(transport) {}

  void send(int to, const std::vector<char>& bytes);
  // Waits for a message until `last`. False also after an error.
  bool has_message_before(int from, std::chrono::steady_clock::time_point last);
  // Waits for a message of the size of `bytes`, without pauses.
  void receive(int from, std::vector<char>& bytes);
  void send_text(int to, const std::string& text);
  // Waits for a text of any length, with a pause of a millisecond between two probes. Empty after
  // an error.
  std::string receive_text(int from);
  // kDevice after an error.
  const Status& status() const { return status_; }

 private:
  template <typename Start>
  void wait(const Start& start);
  // The bytes of the next message, after waiting with pauses; -1 at `last`, and after an error.
  int64_t wait_for_message(int from, std::optional<std::chrono::steady_clock::time_point> last);
  void fail();

  const scopevm_transport& transport_;
  Status status_;
};

}  // namespace scopevm::tool
