// The stages of a connection; see connection.h.
#include "tools/serve/http/connection.h"

#include <fmt/format.h>
#include <boost/asio/buffer.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/string.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/status.hpp>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <utility>

namespace scopevm::serve {
namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using boost::beast::string_view;

constexpr uint32_t kMaxHeaderBytes = 32 << 10;
constexpr size_t kDiscardBytes = size_t{16} << 10;
// Beast reads as many bytes at once as the buffer has, and at most these.
constexpr size_t kReadBytes = size_t{64} << 10;
constexpr size_t kMaxDiscardedBytes = size_t{1} << 20;
constexpr size_t kReadAheadBytes = size_t{1} << 10;
constexpr std::chrono::seconds kDiscardTime{5};
constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
constexpr char kTooManyBytes[] = "the requests that are in flight have too many bytes";

std::string text(string_view view) { return {view.data(), view.size()}; }

std::string lower(string_view name) {
  std::string result = text(name);
  for (char& letter : result)
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
  return result;
}

// The path and query of a target that begins with "http://HOST"; other targets as they are.
std::string without_origin(std::string target) {
  const string_view kScheme = "http://";
  if (!boost::beast::iequals(string_view(target).substr(0, kScheme.size()), kScheme)) return target;
  const size_t path = target.find('/', kScheme.size());
  return path == std::string::npos ? "/" : target.substr(path);
}

// The status for a request that Beast rejects; 0: the connection has failed.
int status_of(const boost::beast::error_code& error) {
  if (error == http::error::header_limit) return 431;
  if (error == http::error::body_limit) return 413;
  if (error == http::error::end_of_stream || error == http::error::partial_message) return 0;
  return error.category() == http::make_error_code(http::error::bad_method).category() ? 400 : 0;
}

}  // namespace

void ConnectionPool::add(const std::shared_ptr<Connection>& connection) {
  ++statistics.connections;
  const std::lock_guard lock(mutex_);
  connections_.insert(connection.get());
}

void ConnectionPool::remove(Connection* connection) {
  --statistics.connections;
  const std::lock_guard lock(mutex_);
  connections_.erase(connection);
}

void ConnectionPool::drain() {
  is_draining = true;
  for (const auto& connection : connections()) connection->post_close(true);
}

void ConnectionPool::close() {
  for (const auto& connection : connections()) connection->post_close(false);
}

std::vector<std::shared_ptr<Connection>> ConnectionPool::connections() {
  const std::lock_guard lock(mutex_);
  std::vector<std::shared_ptr<Connection>> alive;
  for (Connection* const connection : connections_)  // a destructor can wait for the lock
    if (auto handle = connection->weak_from_this().lock()) alive.push_back(std::move(handle));
  return alive;
}

bool ConnectionPool::take_body_bytes(size_t bytes) {
  const auto added = static_cast<int64_t>(bytes);
  if (statistics.body_bytes_in_flight.fetch_add(added) + added <=
      static_cast<int64_t>(options.max_bodies_bytes))
    return true;
  statistics.body_bytes_in_flight -= added;
  return false;
}

Connection::Connection(Stream::Socket socket, std::string remote,
                       std::shared_ptr<ConnectionPool> pool)
    : stream_(std::move(socket), pool->options.tls ? pool->options.tls->context().get() : nullptr),
      remote_(std::move(remote)),
      pool_(std::move(pool)),
      timer_(stream_.get_executor()) {}

Connection::~Connection() {
  release_body();
  pool_->remove(this);
}

void Connection::start() {
  asio::dispatch(stream_.get_executor(), [self = shared_from_this()] {
    if (!self->stream_.has_tls()) return self->read_header();
    self->set_limit(self->pool_->options.idle_timeout);
    self->stream_.async_handshake([self](ErrorCode error) {
      if (!error) return self->read_header();
      ++self->pool_->statistics.failed_handshakes;
      self->close();
    });
  });
}

void Connection::post_close(bool only_idle) {
  asio::post(stream_.get_executor(), [self = shared_from_this(), only_idle] {
    if (!only_idle || self->stage_ == Stage::kIdle) self->close();
  });
}

// Closes the connection after a time, unless the limit is set again before.
void Connection::set_limit(std::chrono::seconds time) {
  timer_.expires_after(time);
  timer_.async_wait([weak = weak_from_this()](ErrorCode error) {
    const auto self = weak.lock();
    if (error || !self || self->timer_.expiry() > std::chrono::steady_clock::now()) return;
    if (self->stage_ == Stage::kHandling) self->client_left();
    self->close();
  });
}

void Connection::read_header() {
  stage_ = Stage::kIdle;
  if (pool_->is_draining) return close();
  parser_.emplace();
  parser_->header_limit(kMaxHeaderBytes);
  parser_->body_limit(pool_->options.max_body_bytes);
  set_limit(pool_->options.idle_timeout);
  if (!is_reading_ahead_) parse_header();
}

void Connection::parse_header() {
  http::async_read_header(
      stream_, buffer_, *parser_,
      [self = shared_from_this()](ErrorCode error, size_t) { self->header_was_read(error); });
}

void Connection::header_was_read(ErrorCode error) {
  stage_ = Stage::kReading;
  started_ = std::chrono::steady_clock::now();
  if (error) {
    if (const int status = status_of(error)) return refuse(status, error.message());
    return close();
  }
  const auto& header = parser_->get();
  // The bytes of a body without a length are taken as they come.
  const size_t bytes = parser_->content_length().value_or(0);
  if (!pool_->take_body_bytes(bytes)) return refuse(503, kTooManyBytes);
  body_bytes_ = bytes;
  if (!header[http::field::content_encoding].empty() &&
      header[http::field::content_encoding] != "identity")
    return refuse(415, "content encodings are not supported");
  set_limit(pool_->options.read_timeout);
  parser_->eager(true);
  if (!boost::beast::iequals(header[http::field::expect], "100-continue")) return read_body();
  asio::async_write(stream_, asio::buffer(kContinue),
                    [self = shared_from_this()](ErrorCode failed, size_t) {
                      if (failed) return self->close();
                      self->read_body();
                    });
}

void Connection::read_body() {
  if (parser_->is_done()) return handle();
  buffer_.reserve(std::min<size_t>(parser_->content_length().value_or(kReadBytes), kReadBytes));
  http::async_read_some(
      stream_, buffer_, *parser_,
      [self = shared_from_this()](ErrorCode error, size_t) { self->body_was_read(error); });
}

void Connection::body_was_read(ErrorCode error) {
  if (error) {
    if (const int status = status_of(error)) return refuse(status, error.message());
    return close();
  }
  const size_t bytes = parser_->get().body().size();
  if (bytes > body_bytes_) {
    if (!pool_->take_body_bytes(bytes - body_bytes_)) return refuse(503, kTooManyBytes);
    body_bytes_ = bytes;
  }
  read_body();
}

void Connection::take_request() {
  auto message = parser_->release();
  const std::string target = without_origin(text(message.target()));
  const size_t query = target.find('?');
  request_ = {};
  request_.method = text(message.method_string());
  request_.path = target.substr(0, query);
  if (query != std::string::npos) request_.query = target.substr(query + 1);
  for (const auto& field : message) {
    std::string& value = request_.headers[lower(field.name_string())];
    value += (value.empty() ? "" : ", ") + text(field.value());
  }
  keeps_alive_ = message.keep_alive();
  is_http_1_0_ = message.version() == 10;
  request_.body = std::make_shared<const std::string>(std::move(message.body()));
  request_.remote = remote_;
}

void Connection::handle() {
  stage_ = Stage::kHandling;
  timer_.cancel();
  started_ = std::chrono::steady_clock::now();
  take_request();
  note_ = {};
  leave_ = nullptr;
  has_left_ = false;
  ++pool_->statistics.requests;
  pool_->statistics.request_bytes += static_cast<int64_t>(request_.body->size());
  read_ahead();
  pool_->handler(shared_from_this());
}

// Begins to read the next request while this one is handled: a client that has closed its end is
// gone.
void Connection::read_ahead() {
  if (is_reading_ahead_ || buffer_.size() > 0) return;
  is_reading_ahead_ = true;
  // An idle connection does not keep the memory that a large body needed.
  if (buffer_.capacity() > kReadAheadBytes) buffer_.shrink_to_fit();
  stream_.async_read_some(buffer_.prepare(kReadAheadBytes),
                          [self = shared_from_this()](ErrorCode error, size_t bytes) {
                            self->was_read_ahead(error, bytes);
                          });
}

void Connection::was_read_ahead(ErrorCode error, size_t bytes) {
  is_reading_ahead_ = false;
  buffer_.commit(bytes);
  if (stage_ == Stage::kIdle) return error ? close() : parse_header();
  // In other stages, the next read or write fails, too.
  if (error && stage_ == Stage::kHandling) client_left();
}

void Connection::client_left() {
  if (std::exchange(has_left_, true)) return;
  ++pool_->statistics.left;
  if (leave_) std::exchange(leave_, nullptr)();
}

// Answers a request that was not read to its end.
void Connection::refuse(int status, const std::string& message) {
  if (parser_) {
    const auto& header = parser_->get();
    request_ = {};
    request_.method = text(header.method_string());
    request_.path = text(header.target());
    request_.remote = remote_;
  }
  keeps_alive_ = false;
  HttpResponse response;
  response.status = status;
  response.body = nlohmann::json({{"error", message}})
                      .dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
  note_ = {};
  note_.error = message;
  if (status == 503) response.headers.emplace_back("Retry-After", "1");
  stage_ = Stage::kHandling;
  write(std::move(response));
}

void Connection::reply(HttpResponse response) {
  asio::dispatch(stream_.get_executor(),
                 [self = shared_from_this(), response = std::move(response)]() mutable {
                   self->write(std::move(response));
                 });
}

void Connection::reply_part(HttpResponse part, std::function<void()> sent) {
  asio::dispatch(stream_.get_executor(), [self = shared_from_this(), part = std::move(part),
                                          sent = std::move(sent)]() mutable {
    self->write_part(std::move(part), std::move(sent));
  });
}

// The head of a response whose body has a size, or comes in parts.
void Connection::set_head(const HttpResponse& response, std::optional<size_t> size) {
  const auto add = [&](std::string_view name, std::string_view value) {
    head_.append(name).append(": ").append(value).append("\r\n");
  };
  const auto status = static_cast<unsigned>(response.status);
  const string_view reason = http::obsolete_reason(http::int_to_status(status));
  head_ = "HTTP/1.1 " + std::to_string(status) + " " + text(reason) + "\r\n";
  keeps_alive_ &= !pool_->is_draining && (size || !is_http_1_0_);
  if (!keeps_alive_) add("Connection", "close");
  if (keeps_alive_ && is_http_1_0_) add("Connection", "keep-alive");
  add("Content-Type", response.type);
  for (const auto& [name, value] : response.headers) add(name, value);
  if (size)
    add("Content-Length", std::to_string(*size));
  else if (!is_http_1_0_)
    add("Transfer-Encoding", "chunked");
  head_ += "\r\n";
}

void Connection::write(HttpResponse response) {
  if (stage_ != Stage::kHandling) return;
  leave_ = nullptr;
  if (!is_in_parts_) set_head(response, response.body.size());
  if (request_.method == "HEAD") response.body.clear();
  response_bytes_ += response.body.size();
  log(has_left_ ? kClientLeft : response.status);
  release_body();
  if (is_writing_part_) return close();  // the client has left
  stage_ = Stage::kWriting;
  send(std::move(response.body), true);
}

void Connection::write_part(HttpResponse part, std::function<void()> sent) {
  if (stage_ != Stage::kHandling || has_left_) return;
  if (!is_in_parts_) set_head(part, std::nullopt);
  is_in_parts_ = is_writing_part_ = true;
  response_bytes_ += part.body.size();
  sent_ = std::move(sent);
  send(std::move(part.body), false);
}

// Writes `head_` and a body or a part of it. An empty part would end the response.
void Connection::send(std::string body, bool is_last) {
  pool_->statistics.response_bytes += static_cast<int64_t>(body.size());
  body_ = std::move(body);
  tail_ = "";
  if (is_in_parts_ && !is_http_1_0_) {
    if (!body_.empty()) {
      head_ += fmt::format("{:x}\r\n", body_.size());
      tail_ = "\r\n";
    }
    if (is_last) tail_ = body_.empty() ? "0\r\n\r\n" : "\r\n0\r\n\r\n";
  }
  set_limit(pool_->options.read_timeout);
  const std::array buffers = {asio::buffer(std::as_const(head_)),
                              asio::buffer(std::as_const(body_)), asio::buffer(tail_)};
  asio::async_write(stream_, buffers,
                    [self = shared_from_this(), is_last](ErrorCode error, size_t) {
                      self->head_.clear();
                      self->body_ = {};
                      is_last ? self->was_written(error) : self->part_was_written(error);
                    });
}

void Connection::part_was_written(ErrorCode error) {
  is_writing_part_ = false;
  if (stage_ != Stage::kHandling) return;
  timer_.cancel();
  const auto sent = std::exchange(sent_, nullptr);
  if (error) return client_left();
  if (sent) sent();
}

void Connection::was_written(ErrorCode error) {
  is_in_parts_ = false;
  if (error || has_left_) return close();
  if (keeps_alive_ && !pool_->is_draining) return read_header();
  finish_writing();
}

void Connection::log(int status) {
  if (AccessLog* const log = pool_->options.access_log)
    log->write(
        {request_, note_, status, response_bytes_, std::chrono::steady_clock::now() - started_});
  response_bytes_ = 0;
}

// A connection that is closed while input is unread is reset, and the client may not see the
// response.
void Connection::finish_writing() {
  stage_ = Stage::kClosing;
  set_limit(kDiscardTime);
  stream_.async_shutdown([self = shared_from_this()] { self->discard_input(); });
}

void Connection::discard_input() {
  body_.resize(kDiscardBytes);
  stream_.socket().async_read_some(asio::buffer(body_),
                                   [self = shared_from_this()](ErrorCode error, size_t bytes) {
                                     self->discarded_bytes_ += bytes;
                                     if (error || self->discarded_bytes_ > kMaxDiscardedBytes)
                                       return self->close();
                                     self->discard_input();
                                   });
}

void Connection::release_body() {
  request_.body.reset();
  pool_->statistics.body_bytes_in_flight -= static_cast<int64_t>(std::exchange(body_bytes_, 0));
}

void Connection::close() {
  const bool was_handling = stage_ == Stage::kHandling;
  stage_ = Stage::kClosing;
  timer_.cancel();
  ErrorCode ignored;
  (void)stream_.socket().close(ignored);
  if (was_handling && leave_) std::exchange(leave_, nullptr)();
  sent_ = nullptr;  // can hold the request that `leave_` cancels
}

}  // namespace scopevm::serve
