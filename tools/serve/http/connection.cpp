// The stages of a connection; see connection.h.
#include "tools/serve/http/connection.h"

#include <sys/socket.h>

#include <boost/asio/buffer.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/post.hpp>
#include <boost/beast/core/string.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/write.hpp>

#include <array>
#include <cerrno>
#include <nlohmann/json.hpp>
#include <utility>

namespace scopevm::serve {
namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using boost::beast::string_view;

constexpr uint32_t kMaxHeaderBytes = 32 << 10;
constexpr size_t kMaxDiscardedBytes = size_t{1} << 20;
constexpr std::chrono::seconds kDiscardTime{5};

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

// Whether the peer has closed its end of the connection.
bool has_ended(int socket) {
  char byte = 0;
  const ssize_t got = recv(socket, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  return got == 0 || (got < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR);
}

// The status for a request that Beast rejects; 0: the connection has failed.
int status_of(const boost::beast::error_code& error) {
  if (error == http::error::header_limit) return 431;
  if (error == http::error::body_limit) return 413;
  if (error == boost::beast::error::timeout || error == http::error::end_of_stream ||
      error == http::error::partial_message)
    return 0;
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

Connection::Connection(Stream::socket_type socket, std::string remote,
                       std::shared_ptr<ConnectionPool> pool)
    : stream_(std::move(socket)), remote_(std::move(remote)), pool_(std::move(pool)) {}

Connection::~Connection() {
  release_body();
  pool_->remove(this);
}

void Connection::start() {
  asio::dispatch(stream_.get_executor(), [self = shared_from_this()] { self->read_header(); });
}

void Connection::post_close(bool only_idle) {
  asio::post(stream_.get_executor(), [self = shared_from_this(), only_idle] {
    if (!only_idle || self->stage_ == Stage::kIdle) self->close();
  });
}

void Connection::read_header() {
  stage_ = Stage::kIdle;
  if (pool_->is_draining) return close();
  parser_.emplace();
  parser_->header_limit(kMaxHeaderBytes);
  parser_->body_limit(pool_->options.max_body_bytes);
  stream_.expires_after(pool_->options.idle_timeout);
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
  const auto length = parser_->content_length();
  const size_t bytes = length ? *length : parser_->chunked() ? pool_->options.max_body_bytes : 0;
  if (!pool_->take_body_bytes(bytes))
    return refuse(503, "the requests that are in flight have too many bytes");
  body_bytes_ = bytes;
  if (!header[http::field::content_encoding].empty() &&
      header[http::field::content_encoding] != "identity")
    return refuse(415, "content encodings are not supported");
  stream_.expires_after(pool_->options.read_timeout);
  if (!boost::beast::iequals(header[http::field::expect], "100-continue")) return read_body();
  continue_ = {http::status::continue_, header.version()};
  http::async_write(stream_, continue_, [self = shared_from_this()](ErrorCode failed, size_t) {
    if (failed) return self->close();
    self->read_body();
  });
}

void Connection::read_body() {
  http::async_read(stream_, buffer_, *parser_,
                   [self = shared_from_this()](ErrorCode error, size_t) {
                     if (!error) return self->handle();
                     if (const int status = status_of(error))
                       return self->refuse(status, error.message());
                     self->close();
                   });
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
  stream_.expires_never();
  started_ = std::chrono::steady_clock::now();
  take_request();
  note_ = {};
  leave_ = nullptr;
  has_left_ = false;
  ++pool_->statistics.requests;
  pool_->statistics.request_bytes += static_cast<int64_t>(request_.body->size());
  watch_leave();
  pool_->handler(shared_from_this());
}

// A client that closes its end is gone. Data of its next request ends the watch.
void Connection::watch_leave() {
  if (is_watching_ || buffer_.size() > 0) return;
  is_watching_ = true;
  stream_.socket().async_wait(Stream::socket_type::wait_read,
                              [self = shared_from_this()](ErrorCode error) {
                                self->is_watching_ = false;
                                if (error || self->stage_ != Stage::kHandling || self->has_left_)
                                  return;
                                if (!has_ended(self->stream_.socket().native_handle())) return;
                                self->has_left_ = true;
                                ++self->pool_->statistics.left;
                                if (self->leave_) std::exchange(self->leave_, nullptr)();
                              });
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

void Connection::write(HttpResponse response) {
  if (stage_ != Stage::kHandling) return;
  stage_ = Stage::kWriting;
  leave_ = nullptr;
  const bool is_head = request_.method == "HEAD";
  response_ = {};
  response_.result(static_cast<unsigned>(response.status));
  response_.version(11);
  const bool keeps_alive = keeps_alive_ && !pool_->is_draining;
  response_.keep_alive(keeps_alive);
  if (keeps_alive && is_http_1_0_) response_.set(http::field::connection, "keep-alive");
  response_.set(http::field::content_type, response.type);
  for (const auto& [name, value] : response.headers) response_.set(name, value);
  const size_t bytes = response.body.size();
  response_.content_length(bytes);
  if (!is_head) response_.body() = std::move(response.body);
  pool_->statistics.response_bytes += static_cast<int64_t>(bytes);
  if (AccessLog* const log = pool_->options.access_log)
    log->write({request_, note_, has_left_ ? kClientLeft : response.status, bytes,
                std::chrono::steady_clock::now() - started_});
  release_body();
  stream_.expires_after(pool_->options.read_timeout);
  http::async_write(stream_, response_, [self = shared_from_this()](ErrorCode error, size_t) {
    self->was_written(error);
  });
}

void Connection::was_written(ErrorCode error) {
  response_ = {};
  if (error || has_left_) return close();
  if (keeps_alive_ && !pool_->is_draining) return read_header();
  finish_writing();
}

// A connection that is closed while input is unread is reset, and the client may not see the
// response.
void Connection::finish_writing() {
  stage_ = Stage::kClosing;
  ErrorCode ignored;
  (void)stream_.socket().shutdown(asio::socket_base::shutdown_send, ignored);
  stream_.expires_after(kDiscardTime);
  discard_input();
}

void Connection::discard_input() {
  buffer_.clear();
  stream_.async_read_some(buffer_.prepare(size_t{16} << 10),
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
  ErrorCode ignored;
  (void)stream_.socket().close(ignored);
  if (was_handling && leave_) std::exchange(leave_, nullptr)();
}

}  // namespace scopevm::serve
