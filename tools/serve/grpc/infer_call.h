// The calls of gRPC that run a model: one request, and a stream of them.
#pragma once

#include <grpcpp/support/server_callback.h>

#include <memory>
#include <string>

#include "scopevm/status.h"
#include "tools/serve/core.h"
#include "tools/serve/grpc/open_inference.pb.h"
#include "tools/serve/repository/repository.h"

namespace scopevm::serve {

// The model that a message names; an empty version: the greatest. Errors: kNotFound,
// kInvalidArgument (the version is not a number).
Result<std::shared_ptr<LoadedModel>> find_model(const Repository& repository,
                                                const std::string& name,
                                                const std::string& version);

// The reactors own themselves.
grpc::ServerUnaryReactor* infer_once(Core& core, grpc::CallbackServerContext& context,
                                     const inference::ModelInferRequest& request,
                                     inference::ModelInferResponse& response);

// Responses have the order of the requests.
grpc::ServerBidiReactor<inference::ModelInferRequest, inference::ModelStreamInferResponse>*
infer_stream(Core& core, grpc::CallbackServerContext& context);

}  // namespace scopevm::serve
