// The gRPC server of the Open Inference Protocol, with the standard service for health.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>

#include "scopevm/status.h"
#include "tools/serve/core.h"
#include "tools/serve/tls/credentials.h"

namespace scopevm::serve {

struct GrpcOptions {
  std::string address;  // "ADDRESS:PORT" or "unix:PATH"; port 0 takes a free one
  size_t max_message_bytes = size_t{64} << 20;
  std::shared_ptr<TlsCredentials> tls;  // null: without TLS; Unix sockets are without TLS
};

// Thread-safe.
class GrpcServer {
 public:
  // `core` outlives the server. Errors: kInvalidArgument (the address cannot be used).
  static Result<std::unique_ptr<GrpcServer>> listen(Core& core, const GrpcOptions& options);
  virtual ~GrpcServer() = default;

  virtual std::string address() const = 0;
  // What the standard service for health answers.
  virtual void set_serving(bool is_serving) = 0;
  // Refuses further calls, waits for those in flight until the deadline, and cancels the others.
  virtual void drain(std::chrono::system_clock::time_point deadline) = 0;
};

}  // namespace scopevm::serve
