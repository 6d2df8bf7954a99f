// Reads PEM files into a context of OpenSSL; see credentials.h.
#include "tools/serve/tls/credentials.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include "tools/files/file.h"
#include "tools/serve/protocol/invalid.h"

namespace scopevm::serve {
namespace {

using Context = boost::asio::ssl::context;

template <auto release>
struct ReleasedBy {
  template <typename T>
  void operator()(T* object) const {
    release(object);
  }
};
using Bio = std::unique_ptr<BIO, ReleasedBy<BIO_free>>;
using Certificate = std::unique_ptr<X509, ReleasedBy<X509_free>>;
using PrivateKey = std::unique_ptr<EVP_PKEY, ReleasedBy<EVP_PKEY_free>>;

Bio reader_of(const std::string& text) {
  return Bio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

Result<std::string> read_text(const std::string& path) {
  SCOPEVM_ASSIGN_OR_RETURN(const std::vector<uint8_t> bytes, tool::read_file(path));
  return std::string(bytes.begin(), bytes.end());
}

// The server has no terminal to ask for a password.
int no_password(char*, int, int, void*) { return 0; }

Result<std::vector<Certificate>> read_certificates(const std::string& path,
                                                   const std::string& text) {
  const Bio reader = reader_of(text);
  std::vector<Certificate> certificates;
  while (Certificate next{PEM_read_bio_X509(reader.get(), nullptr, no_password, nullptr)})
    certificates.push_back(std::move(next));
  const bool is_end = ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE;
  ERR_clear_error();
  if (certificates.empty() || !is_end)
    return invalid(path + ": expected certificates in PEM format");
  return certificates;
}

Status use_certificates(SSL_CTX* context, const std::string& path, const std::string& text) {
  SCOPEVM_ASSIGN_OR_RETURN(const auto certificates, read_certificates(path, text));
  bool is_usable = SSL_CTX_use_certificate(context, certificates.front().get()) == 1;
  for (size_t i = 1; i < certificates.size(); ++i)
    is_usable &= SSL_CTX_add1_chain_cert(context, certificates[i].get()) == 1;
  if (is_usable) return {};
  std::array<char, 256> reason;
  ERR_error_string_n(ERR_get_error(), reason.data(), reason.size());
  ERR_clear_error();
  return invalid(path + ": OpenSSL rejects the certificate: " + reason.data());
}

Status use_key(SSL_CTX* context, const TlsFiles& files, const std::string& text) {
  const Bio reader = reader_of(text);
  const PrivateKey key(PEM_read_bio_PrivateKey(reader.get(), nullptr, no_password, nullptr));
  ERR_clear_error();
  if (!key) return invalid(files.key + ": expected a private key in PEM format without a password");
  if (X509_check_private_key(SSL_CTX_get0_certificate(context), key.get()) == 1 &&
      SSL_CTX_use_PrivateKey(context, key.get()) == 1)
    return {};
  ERR_clear_error();
  return invalid(files.key + ": the key is not that of the certificate in " + files.certificate);
}

// Requires certificates of clients.
Status use_client_ca(SSL_CTX* context, const std::string& path, const std::string& text) {
  SCOPEVM_ASSIGN_OR_RETURN(const auto certificates, read_certificates(path, text));
  for (const Certificate& certificate : certificates) {
    X509_STORE_add_cert(SSL_CTX_get_cert_store(context), certificate.get());
    SSL_CTX_add_client_CA(context, certificate.get());
  }
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
  return {};
}

// Selects the protocol of clients that offer some.
int select_protocol(SSL*, const unsigned char** selected, unsigned char* size,
                    const unsigned char* offered, unsigned int offered_size, void*) {
  static constexpr std::string_view kHttp = "\x08http/1.1";
  unsigned char* found = nullptr;
  const int result =
      SSL_select_next_proto(&found, size, reinterpret_cast<const unsigned char*>(kHttp.data()),
                            static_cast<unsigned int>(kHttp.size()), offered, offered_size);
  *selected = found;
  return result == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_ALERT_FATAL;
}

Result<std::shared_ptr<Context>> make_context(const TlsFiles& files, const TlsTexts& texts) {
  auto context = std::make_shared<Context>(Context::tls_server);
  SSL_CTX* const native = context->native_handle();
  SSL_CTX_set_min_proto_version(native, TLS1_2_VERSION);
  // Of TLS 1.2: with forward secrecy and authenticated encryption.
  SSL_CTX_set_cipher_list(native, "ECDHE+AESGCM:ECDHE+CHACHA20");
  SSL_CTX_set_options(native, SSL_OP_NO_RENEGOTIATION);
  SSL_CTX_set_alpn_select_cb(native, select_protocol, nullptr);
  static constexpr std::string_view kSessions = "scopevm";  // needed with certificates of clients
  SSL_CTX_set_session_id_context(native, reinterpret_cast<const unsigned char*>(kSessions.data()),
                                 static_cast<unsigned int>(kSessions.size()));
  SCOPEVM_RETURN_IF_ERROR(use_certificates(native, files.certificate, texts.certificate));
  SCOPEVM_RETURN_IF_ERROR(use_key(native, files, texts.key));
  if (!files.client_ca.empty())
    SCOPEVM_RETURN_IF_ERROR(use_client_ca(native, files.client_ca, texts.client_ca));
  return context;
}

}  // namespace

Result<std::shared_ptr<TlsCredentials>> TlsCredentials::load(TlsFiles files) {
  std::shared_ptr<TlsCredentials> credentials(new TlsCredentials(std::move(files)));
  SCOPEVM_RETURN_IF_ERROR(credentials->reload());
  return credentials;
}

Status TlsCredentials::reload() {
  auto texts = std::make_shared<TlsTexts>();
  SCOPEVM_ASSIGN_OR_RETURN(texts->certificate, read_text(files_.certificate));
  SCOPEVM_ASSIGN_OR_RETURN(texts->key, read_text(files_.key));
  if (!files_.client_ca.empty()) {
    SCOPEVM_ASSIGN_OR_RETURN(texts->client_ca, read_text(files_.client_ca));
  }
  SCOPEVM_ASSIGN_OR_RETURN(auto context, make_context(files_, *texts));
  const std::lock_guard lock(mutex_);
  context_ = std::move(context);
  texts_ = std::move(texts);
  return {};
}

std::shared_ptr<Context> TlsCredentials::context() const {
  const std::lock_guard lock(mutex_);
  return context_;
}

std::shared_ptr<const TlsTexts> TlsCredentials::texts() const {
  const std::lock_guard lock(mutex_);
  return texts_;
}

}  // namespace scopevm::serve
