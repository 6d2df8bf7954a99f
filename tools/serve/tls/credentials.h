// The certificate of the server, and the certificates that it accepts from clients.
#pragma once

#include <boost/asio/ssl/context.hpp>

#include <memory>
#include <mutex>
#include <string>

#include "scopevm/status.h"

namespace scopevm::serve {

// Files in PEM format.
struct TlsFiles {
  std::string certificate;  // that of the server, and those of its issuers
  std::string key;
  std::string client_ca;  // issuers of the certificates that clients must have; empty: none needed
};

// The contents of the files, which match.
struct TlsTexts {
  std::string certificate;
  std::string key;
  std::string client_ca;
};

// What new connections use. Thread-safe.
class TlsCredentials {
 public:
  // Errors: kInvalidArgument (a file cannot be read or is not PEM, or the key is not that of the
  // certificate).
  static Result<std::shared_ptr<TlsCredentials>> load(TlsFiles files);

  // Reads the files again. Connections that exist are unchanged. Errors: as for load(); the
  // credentials then remain.
  Status reload();

  // Of HTTP: TLS 1.2 or later, with the protocol http/1.1 (ALPN).
  std::shared_ptr<boost::asio::ssl::context> context() const;
  std::shared_ptr<const TlsTexts> texts() const;

 private:
  explicit TlsCredentials(TlsFiles files) : files_(std::move(files)) {}

  const TlsFiles files_;
  mutable std::mutex mutex_;
  std::shared_ptr<boost::asio::ssl::context> context_;
  std::shared_ptr<const TlsTexts> texts_;
};

}  // namespace scopevm::serve
