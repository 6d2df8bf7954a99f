// Reads and writes addresses; see endpoint.h.
#include "tools/serve/http/endpoint.h"

#include <charconv>
#include <cstdint>
#include <system_error>

#include "tools/serve/protocol/invalid.h"

namespace scopevm::serve {

using boost::asio::ip::tcp;

std::string text_of(const tcp::endpoint& endpoint) {
  const std::string address = endpoint.address().to_string();
  return (endpoint.address().is_v6() ? "[" + address + "]" : address) + ":" +
         std::to_string(endpoint.port());
}

Result<tcp::endpoint> parse_endpoint(boost::asio::io_context& io, const std::string& text) {
  const auto wrong = [&](const std::string& cause) { return invalid(text + ": " + cause); };
  const size_t colon = text.rfind(':');
  if (colon == std::string::npos) return wrong("expected ADDRESS:PORT or unix:PATH");
  std::string host = text.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  uint16_t port = 0;
  const char* const last = text.data() + text.size();
  const auto [end, parsed] = std::from_chars(text.data() + colon + 1, last, port);
  if (parsed != std::errc() || end != last) return wrong("expected a port from 0 to 65535");
  boost::system::error_code error;
  const auto addresses =
      tcp::resolver(io).resolve(host, std::to_string(port), tcp::resolver::passive, error);
  if (error || addresses.empty()) return wrong(error.message());
  return addresses.begin()->endpoint();
}

}  // namespace scopevm::serve
