// Credentials that change while the server runs. The C++ API of gRPC has them only for files that
// it polls; the C API has a function that is called for each connection.
#include "tools/serve/tls/grpc_credentials.h"

#include <grpc/grpc.h>
#include <grpc/grpc_security.h>

#include <mutex>
#include <string>
#include <utility>

namespace scopevm::serve {
namespace {

class ReloadedCredentials final : public grpc::ServerCredentials {
 public:
  explicit ReloadedCredentials(std::shared_ptr<TlsCredentials> tls) : tls_(std::move(tls)) {
    const bool needs_client = !tls_->texts()->client_ca.empty();
    credentials_ = grpc_ssl_server_credentials_create_with_options(
        grpc_ssl_server_credentials_create_options_using_config_fetcher(
            needs_client ? GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY
                         : GRPC_SSL_DONT_REQUEST_CLIENT_CERTIFICATE,
            fetch, this));
  }
  ~ReloadedCredentials() override { grpc_server_credentials_release(credentials_); }
  ReloadedCredentials(const ReloadedCredentials&) = delete;
  ReloadedCredentials& operator=(const ReloadedCredentials&) = delete;

  void SetAuthMetadataProcessor(const std::shared_ptr<grpc::AuthMetadataProcessor>&) override {}

 private:
  int AddPortToServer(const std::string& address, grpc_server* server) override {
    return grpc_server_add_http2_port(server, address.c_str(), credentials_);
  }

  static grpc_ssl_certificate_config_reload_status fetch(
      void* self, grpc_ssl_server_certificate_config** config) {
    return static_cast<ReloadedCredentials*>(self)->fetch(config);
  }

  grpc_ssl_certificate_config_reload_status fetch(grpc_ssl_server_certificate_config** config) {
    auto texts = tls_->texts();
    const std::lock_guard lock(mutex_);
    if (texts == used_) return GRPC_SSL_CERTIFICATE_CONFIG_RELOAD_UNCHANGED;
    const grpc_ssl_pem_key_cert_pair pair = {texts->key.c_str(), texts->certificate.c_str()};
    // gRPC expects issuers also if it does not request a certificate.
    const std::string& issuers = texts->client_ca.empty() ? texts->certificate : texts->client_ca;
    *config = grpc_ssl_server_certificate_config_create(issuers.c_str(), &pair, 1);
    used_ = std::move(texts);
    return GRPC_SSL_CERTIFICATE_CONFIG_RELOAD_NEW;
  }

  const std::shared_ptr<TlsCredentials> tls_;
  grpc_server_credentials* credentials_ = nullptr;
  std::mutex mutex_;
  std::shared_ptr<const TlsTexts> used_;
};

}  // namespace

std::shared_ptr<grpc::ServerCredentials> grpc_credentials(std::shared_ptr<TlsCredentials> tls) {
  if (!tls) return grpc::InsecureServerCredentials();
  return std::make_shared<ReloadedCredentials>(std::move(tls));
}

}  // namespace scopevm::serve
