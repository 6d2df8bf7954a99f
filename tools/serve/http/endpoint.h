// Addresses of TCP sockets as text.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

#include <string>

#include "scopevm/status.h"

namespace scopevm::serve {

// "127.0.0.1:8000", "[::1]:8000"
std::string text_of(const boost::asio::ip::tcp::endpoint& endpoint);

// The first address of "HOST:PORT". Errors: kInvalidArgument.
Result<boost::asio::ip::tcp::endpoint> parse_endpoint(boost::asio::io_context& io,
                                                      const std::string& text);

}  // namespace scopevm::serve
