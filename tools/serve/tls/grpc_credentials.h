// Credentials of the gRPC server.
#pragma once

#include <grpcpp/security/server_credentials.h>

#include <memory>

#include "tools/serve/tls/credentials.h"

namespace scopevm::serve {

// Each connection uses what `tls` has at its begin; null: without TLS.
std::shared_ptr<grpc::ServerCredentials> grpc_credentials(std::shared_ptr<TlsCredentials> tls);

}  // namespace scopevm::serve
