// HTTP requests and responses, and the exchange of one for the other.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace scopevm::serve {

struct HttpRequest {
  std::string method;                                       // "GET"
  std::string path;                                         // without the query, not decoded
  std::string query;                                        // after '?', not decoded
  std::map<std::string, std::string, std::less<>> headers;  // names in lower case
  std::shared_ptr<const std::string> body;
  std::string remote;  // the address of the client; "unix" for a Unix socket

  // The value of a header, by its name in lower case; null if it is absent.
  const std::string* header(std::string_view name) const {
    const auto found = headers.find(name);
    return found != headers.end() ? &found->second : nullptr;
  }
};

// The status of a request whose client did not wait for the response, in the access log.
inline constexpr int kClientLeft = 499;

struct HttpResponse {
  int status = 200;
  std::string type = "application/json";
  std::string body;
  std::vector<std::pair<std::string, std::string>> headers;  // in addition to the usual ones
};

// What a handler adds to the line of a request in the access log.
struct AccessNote {
  std::string model;
  std::string version;
  std::string id;
  std::string error;
};

// A request that waits for its response.
class Exchange {
 public:
  virtual ~Exchange() = default;
  virtual const HttpRequest& request() const = 0;
  // Sends the response, or the last part of it. Called once, on any thread.
  virtual void reply(HttpResponse response) = 0;
  // Sends a part of a response, before reply(). The first part gives its status, type and headers.
  // `sent` is called when the connection has written the part. Until then, no further part is sent.
  // It is not called if the client is gone. Called on any thread.
  virtual void reply_part(HttpResponse part, std::function<void()> sent) = 0;
  // Sets a function that is called if the client closes the connection before the response. Called
  // by the handler, before it returns.
  virtual void on_leave(std::function<void()> leave) = 0;
  // Changed before reply().
  virtual AccessNote& note() = 0;
};

using HttpHandler = std::function<void(std::shared_ptr<Exchange> exchange)>;

}  // namespace scopevm::serve
