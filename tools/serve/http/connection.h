// One connection: reads a request, lets the handler answer it, writes the response, and repeats.
#pragma once

#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/beast/core/basic_stream.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tools/serve/http/http_server.h"
#include "tools/serve/http/message.h"

namespace scopevm::serve {

class Connection;

// What the connections of a server share. Thread-safe.
class ConnectionPool {
 public:
  ConnectionPool(HttpOptions options, HttpHandler handler)
      : options(options), handler(std::move(handler)) {}

  void add(const std::shared_ptr<Connection>& connection);
  void remove(Connection* connection);
  // After it, connections close when they have sent their response.
  void drain();
  void close();
  // Takes bytes of the limit on all bodies; false: too many are in use.
  bool take_body_bytes(size_t bytes);

  const HttpOptions options;
  const HttpHandler handler;
  HttpStatistics statistics;
  std::atomic<bool> is_draining{false};

 private:
  std::vector<std::shared_ptr<Connection>> connections();

  std::mutex mutex_;
  std::set<Connection*> connections_;  // that exist
};

// All functions but reply() and post_close() run on the connection's strand.
class Connection : public Exchange, public std::enable_shared_from_this<Connection> {
 public:
  using Stream = boost::beast::basic_stream<boost::asio::generic::stream_protocol>;

  Connection(Stream::socket_type socket, std::string remote, std::shared_ptr<ConnectionPool> pool);
  ~Connection() override;
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  void start();
  // Closes the connection: only if it waits for a request, or always.
  void post_close(bool only_idle);

  const HttpRequest& request() const override { return request_; }
  void reply(HttpResponse response) override;
  void on_leave(std::function<void()> leave) override { leave_ = std::move(leave); }
  AccessNote& note() override { return note_; }

 private:
  using Parser = boost::beast::http::request_parser<boost::beast::http::string_body>;
  using ErrorCode = boost::beast::error_code;

  void read_header();
  void header_was_read(ErrorCode error);
  void read_body();
  void handle();
  void take_request();
  void watch_leave();
  void refuse(int status, const std::string& message);
  void write(HttpResponse response);
  void was_written(ErrorCode error);
  void finish_writing();
  void discard_input();
  void release_body();
  void close();

  enum class Stage : uint8_t { kIdle, kReading, kHandling, kWriting, kClosing };

  Stream stream_;
  const std::string remote_;
  const std::shared_ptr<ConnectionPool> pool_;
  boost::beast::flat_buffer buffer_;
  std::optional<Parser> parser_;
  boost::beast::http::response<boost::beast::http::string_body> response_;
  boost::beast::http::response<boost::beast::http::empty_body> continue_;
  HttpRequest request_;
  AccessNote note_;
  std::function<void()> leave_;
  std::chrono::steady_clock::time_point started_;
  size_t body_bytes_ = 0;  // taken from the pool
  size_t discarded_bytes_ = 0;
  Stage stage_ = Stage::kIdle;
  bool is_watching_ = false;  // a wait for the client's leaving is in progress
  bool keeps_alive_ = false;
  bool is_http_1_0_ = false;
  bool has_left_ = false;
};

}  // namespace scopevm::serve
