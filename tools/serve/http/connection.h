// One connection: reads a request, lets the handler answer it, writes the response, and repeats.
#pragma once

#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/flat_buffer.hpp>
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
#include <string_view>
#include <utility>
#include <vector>

#include "tools/serve/http/http_server.h"
#include "tools/serve/http/message.h"
#include "tools/serve/http/stream.h"

namespace scopevm::serve {

class Connection;

// What the connections of a server share. Thread-safe.
class ConnectionPool {
 public:
  ConnectionPool(HttpOptions options, HttpHandler handler)
      : options(std::move(options)), handler(std::move(handler)) {}

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
  Connection(Stream::Socket socket, std::string remote, std::shared_ptr<ConnectionPool> pool);
  ~Connection() override;
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  void start();
  // Closes the connection: only if it waits for a request, or always.
  void post_close(bool only_idle);

  const HttpRequest& request() const override { return request_; }
  void reply(HttpResponse response) override;
  void reply_part(HttpResponse part, std::function<void()> sent) override;
  void on_leave(std::function<void()> leave) override { leave_ = std::move(leave); }
  AccessNote& note() override { return note_; }

 private:
  using Parser = boost::beast::http::request_parser<boost::beast::http::string_body>;
  using ErrorCode = boost::beast::error_code;

  void set_limit(std::chrono::seconds time);
  void read_header();
  void parse_header();
  void header_was_read(ErrorCode error);
  void read_body();
  void body_was_read(ErrorCode error);
  void handle();
  void take_request();
  void read_ahead();
  void was_read_ahead(ErrorCode error, size_t bytes);
  void client_left();
  void refuse(int status, const std::string& message);
  void set_head(const HttpResponse& response, std::optional<size_t> size);
  void write(HttpResponse response);
  void write_part(HttpResponse part, std::function<void()> sent);
  void send(std::string body, bool is_last);
  void part_was_written(ErrorCode error);
  void was_written(ErrorCode error);
  void log(int status);
  void finish_writing();
  void discard_input();
  void release_body();
  void close();

  enum class Stage : uint8_t { kIdle, kReading, kHandling, kWriting, kClosing };

  Stream stream_;
  const std::string remote_;
  const std::shared_ptr<ConnectionPool> pool_;
  boost::asio::steady_timer timer_;
  boost::beast::flat_buffer buffer_;
  std::optional<Parser> parser_;
  // What is being written: the head of the response or of a part, and the body with what follows.
  std::string head_;
  std::string body_;
  std::string_view tail_;
  std::function<void()> sent_;
  HttpRequest request_;
  AccessNote note_;
  std::function<void()> leave_;
  std::chrono::steady_clock::time_point started_;
  size_t body_bytes_ = 0;  // taken from the pool
  size_t discarded_bytes_ = 0;
  size_t response_bytes_ = 0;  // of the body, as far as it was written
  Stage stage_ = Stage::kIdle;
  bool is_reading_ahead_ = false;
  bool is_in_parts_ = false;  // the head of a response in parts was written
  bool is_writing_part_ = false;
  bool keeps_alive_ = false;
  bool is_http_1_0_ = false;
  bool has_left_ = false;
};

}  // namespace scopevm::serve
