// An HTTP/1.1 server on TCP and Unix sockets, with Boost.Beast. Connections take no thread while
// they are idle or wait for their response.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "scopevm/status.h"
#include "tools/serve/http/access_log.h"
#include "tools/serve/http/message.h"
#include "tools/serve/tls/credentials.h"

namespace boost::asio {
class io_context;
}

namespace scopevm::serve {

struct HttpOptions {
  std::chrono::seconds idle_timeout{75};  // of a handshake, and until a header is complete
  std::chrono::seconds read_timeout{60};  // for the body of a request, and to write a response
  size_t max_body_bytes = size_t{64} << 20;
  size_t max_bodies_bytes = size_t{1} << 30;  // of all requests that are read or wait
  size_t max_connections = 20'000;
  AccessLog* access_log = nullptr;  // null: none; outlives the server
  // Null: without TLS. Unix sockets are without TLS.
  std::shared_ptr<TlsCredentials> tls;
};

// Counters of a server. Thread-safe.
struct HttpStatistics {
  std::atomic<int64_t> connections{0};           // that are open
  std::atomic<int64_t> accepted{0};              // connections since the start
  std::atomic<int64_t> refused{0};               // connections above the maximum
  std::atomic<int64_t> failed_handshakes{0};     // of TLS
  std::atomic<int64_t> requests{0};              // that were read
  std::atomic<int64_t> left{0};                  // clients that left before the response
  std::atomic<int64_t> request_bytes{0};         // of bodies
  std::atomic<int64_t> response_bytes{0};        // of bodies
  std::atomic<int64_t> body_bytes_in_flight{0};  // of max_bodies_bytes
};

// Thread-safe.
class HttpServer {
 public:
  // Listens on "ADDRESS:PORT", "[ADDRESS]:PORT" or "unix:PATH"; port 0 takes a free one. The server
  // works while threads run `io`. Errors: kInvalidArgument (the address cannot be used).
  static Result<std::unique_ptr<HttpServer>> listen(boost::asio::io_context& io,
                                                    const std::string& address,
                                                    const HttpOptions& options,
                                                    HttpHandler handler);
  virtual ~HttpServer() = default;

  // The address with the port that was taken: "127.0.0.1:8000".
  virtual std::string address() const = 0;
  virtual const HttpStatistics& statistics() const = 0;
  // Accepts no further connections, and closes each connection after its response.
  virtual void drain() = 0;
  // Closes all connections.
  virtual void close() = 0;
};

}  // namespace scopevm::serve
