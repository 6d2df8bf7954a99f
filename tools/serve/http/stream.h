// The stream of a connection: a socket, with TLS or without.
#pragma once

#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/beast/ssl/ssl_stream.hpp>

#include <optional>
#include <utility>

namespace scopevm::serve {

// Meets the requirements AsyncReadStream and AsyncWriteStream of Boost.Asio.
class Stream {
 public:
  using Socket = boost::asio::generic::stream_protocol::socket;
  using executor_type = Socket::executor_type;
  using ErrorCode = boost::system::error_code;

  // Null: without TLS. The stream does not refer to the context after its construction.
  Stream(Socket socket, boost::asio::ssl::context* tls) : socket_(std::move(socket)) {
    if (tls != nullptr) tls_.emplace(socket_, *tls);
  }

  executor_type get_executor() { return socket_.get_executor(); }
  Socket& socket() { return socket_; }
  bool has_tls() const { return tls_.has_value(); }

  // Requires has_tls(). Before the first read or write.
  template <typename Handler>
  void async_handshake(Handler&& handler) {
    tls_->async_handshake(boost::asio::ssl::stream_base::server, std::forward<Handler>(handler));
  }

  template <typename Buffers, typename Handler>
  void async_read_some(const Buffers& buffers, Handler&& handler) {
    if (tls_)
      tls_->async_read_some(buffers, std::forward<Handler>(handler));
    else
      socket_.async_read_some(buffers, std::forward<Handler>(handler));
  }

  template <typename Buffers, typename Handler>
  void async_write_some(const Buffers& buffers, Handler&& handler) {
    if (tls_)
      tls_->async_write_some(buffers, std::forward<Handler>(handler));
    else
      socket_.async_write_some(buffers, std::forward<Handler>(handler));
  }

  // Reports the end of the output to the peer, and calls `handler()`. With TLS, it waits until the
  // peer does the same or sends data. Afterwards, only socket() is used.
  template <typename Handler>
  void async_shutdown(Handler handler) {
    if (tls_)
      tls_->async_shutdown([this, handler = std::move(handler)](ErrorCode) mutable {
        shutdown_socket();
        handler();
      });
    else
      boost::asio::post(get_executor(), [this, handler = std::move(handler)]() mutable {
        shutdown_socket();
        handler();
      });
  }

 private:
  void shutdown_socket() {
    ErrorCode ignored;
    (void)socket_.shutdown(Socket::shutdown_send, ignored);
  }

  Socket socket_;
  std::optional<boost::beast::ssl_stream<Socket&>> tls_;
};

}  // namespace scopevm::serve
