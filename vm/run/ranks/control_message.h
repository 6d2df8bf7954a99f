// The messages by which the ranks of a job begin, end and abort requests; see rank_channel.h.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "scopevm/status.h"

namespace scopevm::vm {

struct ControlMessage {
  enum class Kind : uint32_t {
    kHello,    // both ways: the digest of the module
    kRequest,  // of rank 0: the shapes of the inputs
    kDone,     // to rank 0: the outcome, messages sent by rank, peak and allocations by pool
    kAbort,    // of rank 0: another rank has failed
    kEnd,      // of rank 0, after a failure: messages sent to the receiver, by rank
    kDrained,  // to rank 0: the sender has received them
    kStop,     // of rank 0: no more requests
  };

  Kind kind = Kind::kHello;
  uint64_t request = 0;  // its number
  std::vector<int64_t> numbers = {};
  StatusCode code = StatusCode::kOk;
  std::string text = {};  // the message of the error

  std::string encode() const;
  // Errors: kDevice (the bytes are no message).
  static Result<ControlMessage> decode(std::string_view bytes);
};

}  // namespace scopevm::vm
