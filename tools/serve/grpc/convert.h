// Inferences as messages of gRPC.
#pragma once

#include <grpcpp/support/status.h>

#include <string_view>

#include "scopevm/status.h"
#include "tools/serve/grpc/open_inference.pb.h"
#include "tools/serve/protocol/infer.h"

namespace scopevm::serve {

// The request in a message. Its tensors borrow bytes of the message, which must outlive the
// request. Errors: kInvalidArgument, kOutOfMemory.
Result<InferRequest> request_of(const inference::ModelInferRequest& message);

// Writes the outputs as raw contents.
void write_response(const InferResponse& response, inference::ModelInferResponse& message);

grpc::Status grpc_status(const Status& status);

}  // namespace scopevm::serve
