// Answers the agent checks of haproxy: each connection gets one line, and is closed.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "scopevm/status.h"

namespace boost::asio {
class io_context;
}

namespace scopevm::serve {

// Thread-safe.
class AgentServer {
 public:
  // `line` makes the line, such as "up 60%", on a thread that runs `io`. Errors: kInvalidArgument
  // (the address, ADDRESS:PORT, cannot be used).
  static Result<std::unique_ptr<AgentServer>> listen(boost::asio::io_context& io,
                                                     const std::string& address,
                                                     std::function<std::string()> line);
  virtual ~AgentServer() = default;
  // The address with the port that was taken.
  virtual std::string address() const = 0;
};

}  // namespace scopevm::serve
