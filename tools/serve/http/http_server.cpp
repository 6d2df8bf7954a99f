// Listens and accepts connections; see http_server.h.
#include "tools/serve/http/http_server.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>

#include <utility>

#include "tools/serve/http/connection.h"
#include "tools/serve/http/endpoint.h"

namespace scopevm::serve {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using LocalStream = asio::local::stream_protocol;
using ErrorCode = boost::system::error_code;

constexpr std::string_view kUnixPrefix = "unix:";

Status wrong(const std::string& address, const std::string& cause) {
  return {StatusCode::kInvalidArgument, address + ": " + cause};
}

std::string remote_of(const tcp::endpoint& endpoint) { return text_of(endpoint); }
std::string remote_of(const LocalStream::endpoint&) { return "unix"; }

// A compiler that the server starts must not keep a connection open.
void close_on_exec(int socket) { fcntl(socket, F_SETFD, FD_CLOEXEC); }

void set_options(tcp::socket& socket) {
  ErrorCode ignored;
  (void)socket.set_option(tcp::no_delay(true), ignored);
}
void set_options(LocalStream::socket&) {}

template <typename Protocol>
class Listener : public HttpServer, public std::enable_shared_from_this<Listener<Protocol>> {
 public:
  Listener(asio::io_context& io, const HttpOptions& options, HttpHandler handler)
      : io_(io),
        acceptor_(asio::make_strand(io)),
        retry_(acceptor_.get_executor()),
        pool_(std::make_shared<ConnectionPool>(options, std::move(handler))) {}

  ~Listener() override { remove_file(); }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  Status open(const std::string& address, const typename Protocol::endpoint& endpoint) {
    ErrorCode error;
    acceptor_.open(endpoint.protocol(), error);
    if (!error) close_on_exec(acceptor_.native_handle());
    if (!error) acceptor_.set_option(asio::socket_base::reuse_address(true), error);
    if (!error) acceptor_.bind(endpoint, error);
    has_file_ = !error;
    if (!error) acceptor_.listen(kBacklog, error);
    if (error) return wrong(address, error.message());
    endpoint_ = acceptor_.local_endpoint(error);
    return {};
  }

  void start() { accept(); }

  std::string address() const override {
    if constexpr (std::is_same_v<Protocol, tcp>)
      return text_of(endpoint_);
    else
      return std::string(kUnixPrefix) + endpoint_.path();
  }

  const HttpStatistics& statistics() const override { return pool_->statistics; }

  void drain() override {
    asio::post(acceptor_.get_executor(), [self = this->shared_from_this()] {
      ErrorCode ignored;
      self->acceptor_.close(ignored);
      self->retry_.cancel();
      self->remove_file();
    });
    pool_->drain();
  }

  void close() override { pool_->close(); }

 private:
  static constexpr int kBacklog = 4096;

  void accept() {
    acceptor_.async_accept(
        asio::make_strand(io_),
        [self = this->shared_from_this()](ErrorCode error, typename Protocol::socket socket) {
          self->accepted(error, std::move(socket));
        });
  }

  void accepted(ErrorCode error, typename Protocol::socket socket) {
    if (!acceptor_.is_open()) return;
    if (error) return accept_later();
    ErrorCode ignored;
    const typename Protocol::endpoint remote = socket.remote_endpoint(ignored);
    close_on_exec(socket.native_handle());
    set_options(socket);
    ++pool_->statistics.accepted;
    if (pool_->statistics.connections >= static_cast<int64_t>(pool_->options.max_connections)) {
      ++pool_->statistics.refused;  // the socket is closed
    } else {
      auto connection = std::make_shared<Connection>(std::move(socket), remote_of(remote), pool_);
      pool_->add(connection);
      connection->start();
    }
    accept();
  }

  // The process has too many files open, for example.
  void accept_later() {
    retry_.expires_after(std::chrono::milliseconds(50));
    retry_.async_wait([self = this->shared_from_this()](ErrorCode error) {
      if (!error && self->acceptor_.is_open()) self->accept();
    });
  }

  // Once: afterwards another server can use the path.
  void remove_file() {
    if constexpr (std::is_same_v<Protocol, LocalStream>)
      if (std::exchange(has_file_, false)) unlink(endpoint_.path().c_str());
  }

  asio::io_context& io_;
  asio::basic_socket_acceptor<Protocol> acceptor_;
  asio::steady_timer retry_;
  const std::shared_ptr<ConnectionPool> pool_;
  typename Protocol::endpoint endpoint_;
  bool has_file_ = false;  // whether the file of a Unix socket is ours
};

// A handle that outlives the listener's operations in `io`.
template <typename Protocol>
class Handle : public HttpServer {
 public:
  explicit Handle(std::shared_ptr<Listener<Protocol>> listener) : listener_(std::move(listener)) {}
  std::string address() const override { return listener_->address(); }
  const HttpStatistics& statistics() const override { return listener_->statistics(); }
  void drain() override { listener_->drain(); }
  void close() override { listener_->close(); }

 private:
  const std::shared_ptr<Listener<Protocol>> listener_;
};

template <typename Protocol>
Result<std::unique_ptr<HttpServer>> start(asio::io_context& io, const std::string& address,
                                          const typename Protocol::endpoint& endpoint,
                                          const HttpOptions& options, HttpHandler handler) {
  auto listener = std::make_shared<Listener<Protocol>>(io, options, std::move(handler));
  SCOPEVM_RETURN_IF_ERROR(listener->open(address, endpoint));
  listener->start();
  return std::unique_ptr<HttpServer>(std::make_unique<Handle<Protocol>>(std::move(listener)));
}

// Removes the socket of a server that has ended.
Status remove_stale(asio::io_context& io, const std::string& path) {
  struct stat file = {};
  if (lstat(path.c_str(), &file) != 0) return {};
  if (!S_ISSOCK(file.st_mode)) return wrong(path, "the file exists and is not a socket");
  LocalStream::socket probe(io);
  ErrorCode error;
  (void)probe.connect(LocalStream::endpoint(path), error);
  if (!error) return wrong(path, "another server uses the socket");
  unlink(path.c_str());
  return {};
}

}  // namespace

Result<std::unique_ptr<HttpServer>> HttpServer::listen(asio::io_context& io,
                                                       const std::string& address,
                                                       const HttpOptions& options,
                                                       HttpHandler handler) {
  if (!address.starts_with(kUnixPrefix)) {
    SCOPEVM_ASSIGN_OR_RETURN(const tcp::endpoint endpoint, parse_endpoint(io, address));
    return start<tcp>(io, address, endpoint, options, std::move(handler));
  }
  const std::string path = address.substr(kUnixPrefix.size());
  if (path.empty() || path.size() >= sizeof(sockaddr_un::sun_path))
    return wrong(address, "expected a path of 1 to 107 bytes");
  SCOPEVM_RETURN_IF_ERROR(remove_stale(io, path));
  HttpOptions plain = options;
  plain.tls = nullptr;
  return start<LocalStream>(io, address, LocalStream::endpoint(path), plain, std::move(handler));
}

}  // namespace scopevm::serve
