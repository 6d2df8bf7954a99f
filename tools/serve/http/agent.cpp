// Accepts connections, writes the line and closes; see agent.h.
#include "tools/serve/http/agent.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/write.hpp>

#include <utility>

#include "tools/serve/http/endpoint.h"
#include "tools/serve/protocol/invalid.h"

namespace scopevm::serve {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;

class Agent : public AgentServer {
 public:
  Agent(asio::io_context& io, std::function<std::string()> line)
      : acceptor_(asio::make_strand(io)), line_(std::move(line)) {}

  Status open(const std::string& address, const tcp::endpoint& endpoint) {
    boost::system::error_code error;
    (void)acceptor_.open(endpoint.protocol(), error);
    if (!error) (void)acceptor_.set_option(asio::socket_base::reuse_address(true), error);
    if (!error) (void)acceptor_.bind(endpoint, error);
    if (!error) (void)acceptor_.listen(asio::socket_base::max_listen_connections, error);
    if (error) return invalid(address + ": " + error.message());
    address_ = text_of(acceptor_.local_endpoint(error));
    accept();
    return {};
  }

  std::string address() const override { return address_; }

 private:
  // A check is a line of a few bytes, which fits in the socket's buffer.
  void accept() {
    acceptor_.async_accept([this](boost::system::error_code error, tcp::socket socket) {
      if (error == asio::error::operation_aborted) return;
      if (!error) {
        (void)socket.non_blocking(true, error);
        asio::write(socket, asio::buffer(line_() + "\n"), error);
      }
      accept();
    });
  }

  tcp::acceptor acceptor_;
  const std::function<std::string()> line_;
  std::string address_;
};

}  // namespace

Result<std::unique_ptr<AgentServer>> AgentServer::listen(asio::io_context& io,
                                                         const std::string& address,
                                                         std::function<std::string()> line) {
  SCOPEVM_ASSIGN_OR_RETURN(const tcp::endpoint endpoint, parse_endpoint(io, address));
  auto agent = std::make_unique<Agent>(io, std::move(line));
  SCOPEVM_RETURN_IF_ERROR(agent->open(address, endpoint));
  return std::unique_ptr<AgentServer>(std::move(agent));
}

}  // namespace scopevm::serve
