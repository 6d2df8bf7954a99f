// The service and its server; see grpc_server.h.
#include "tools/serve/grpc/grpc_server.h"

#include <grpcpp/ext/proto_server_reflection_plugin.h>
#include <grpcpp/health_check_service_interface.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>

#include <utility>
#include <vector>

#include "scopevm/scopevm.h"
#include "tools/serve/grpc/convert.h"
#include "tools/serve/grpc/infer_call.h"
#include "tools/serve/grpc/open_inference.grpc.pb.h"
#include "tools/serve/protocol/binary_tensor.h"
#include "tools/serve/protocol/datatype.h"
#include "tools/serve/protocol/description.h"
#include "tools/serve/protocol/invalid.h"
#include "tools/serve/tls/grpc_credentials.h"

namespace scopevm::serve {
namespace {

using grpc::CallbackServerContext;
using grpc::ServerUnaryReactor;

ServerUnaryReactor* finish(CallbackServerContext* context, const Status& status = {}) {
  ServerUnaryReactor* const reactor = context->DefaultReactor();
  reactor->Finish(grpc_status(status));
  return reactor;
}

void describe(const TensorSignature& tensor,
              inference::ModelMetadataResponse::TensorMetadata& message) {
  message.set_name(tensor.name);
  message.set_datatype(datatype_name(tensor.dtype));
  for (const int64_t dim : constant_dims(tensor)) message.add_shape(dim);
}

void set(inference::StatisticDuration& message, int64_t count, int64_t ns) {
  message.set_count(static_cast<uint64_t>(count));
  message.set_ns(static_cast<uint64_t>(ns));
}

void describe(const LoadedModel& model, inference::ModelStatistics& message) {
  const ModelStatistics& counters = model.statistics;
  const int64_t successes = counters.successes;
  message.set_name(model.name);
  message.set_version(std::to_string(model.version));
  message.set_last_inference(static_cast<uint64_t>(counters.last_ms.load()));
  message.set_inference_count(static_cast<uint64_t>(successes));
  message.set_execution_count(static_cast<uint64_t>(model.execution_count()));
  auto& times = *message.mutable_inference_stats();
  set(*times.mutable_success(), successes, counters.success_ns);
  set(*times.mutable_fail(), counters.failures, counters.failure_ns);
  set(*times.mutable_queue(), successes, counters.queue_ns);
  set(*times.mutable_compute_infer(), successes, counters.compute_ns);
}

class Service : public inference::GRPCInferenceService::CallbackService {
 public:
  explicit Service(Core& core) : core_(core) {}

  ServerUnaryReactor* ServerLive(CallbackServerContext* context,
                                 const inference::ServerLiveRequest*,
                                 inference::ServerLiveResponse* response) override {
    response->set_live(true);
    return finish(context);
  }

  ServerUnaryReactor* ServerReady(CallbackServerContext* context,
                                  const inference::ServerReadyRequest*,
                                  inference::ServerReadyResponse* response) override {
    response->set_ready(core_.is_ready);
    return finish(context);
  }

  ServerUnaryReactor* ModelReady(CallbackServerContext* context,
                                 const inference::ModelReadyRequest* request,
                                 inference::ModelReadyResponse* response) override {
    response->set_ready(find_model(core_.repository, request->name(), request->version()).ok());
    return finish(context);
  }

  ServerUnaryReactor* ServerMetadata(CallbackServerContext* context,
                                     const inference::ServerMetadataRequest*,
                                     inference::ServerMetadataResponse* response) override {
    response->set_name(kServerName);
    response->set_version(scopevm_version());
    for (const char* const extension : kExtensions) response->add_extensions(extension);
    return finish(context);
  }

  ServerUnaryReactor* ModelMetadata(CallbackServerContext* context,
                                    const inference::ModelMetadataRequest* request,
                                    inference::ModelMetadataResponse* response) override {
    const auto model = find_model(core_.repository, request->name(), request->version());
    if (!model.ok()) return finish(context, model.status());
    const auto versions = core_.repository.versions(request->name());
    if (!versions.ok()) return finish(context, versions.status());
    response->set_name((*model)->name);
    response->set_platform(kServerName);
    for (const auto& version : *versions) response->add_versions(std::to_string(version->version));
    const Signature& signature = (*model)->module.signature();
    for (const TensorSignature& input : signature.inputs) describe(input, *response->add_inputs());
    for (const TensorSignature& output : signature.outputs)
      describe(output, *response->add_outputs());
    return finish(context);
  }

  ServerUnaryReactor* ModelInfer(CallbackServerContext* context,
                                 const inference::ModelInferRequest* request,
                                 inference::ModelInferResponse* response) override {
    return infer_once(core_, *context, *request, *response);
  }

  grpc::ServerBidiReactor<inference::ModelInferRequest, inference::ModelStreamInferResponse>*
  ModelStreamInfer(CallbackServerContext* context) override {
    return infer_stream(core_, *context);
  }

  ServerUnaryReactor* ModelStatistics(CallbackServerContext* context,
                                      const inference::ModelStatisticsRequest* request,
                                      inference::ModelStatisticsResponse* response) override {
    std::vector<std::shared_ptr<LoadedModel>> models;
    if (request->name().empty()) {
      models = core_.repository.loaded();
    } else if (request->version().empty()) {
      auto versions = core_.repository.versions(request->name());
      if (!versions.ok()) return finish(context, versions.status());
      models = *std::move(versions);
    } else {
      auto model = find_model(core_.repository, request->name(), request->version());
      if (!model.ok()) return finish(context, model.status());
      models.push_back(*std::move(model));
    }
    for (const auto& model : models) describe(*model, *response->add_model_stats());
    return finish(context);
  }

  ServerUnaryReactor* RepositoryIndex(CallbackServerContext* context,
                                      const inference::RepositoryIndexRequest* request,
                                      inference::RepositoryIndexResponse* response) override {
    for (const IndexEntry& entry : core_.repository.index()) {
      if (request->ready() && !entry.is_ready) continue;
      auto& model = *response->add_models();
      model.set_name(entry.name);
      if (entry.version > 0) model.set_version(std::to_string(entry.version));
      model.set_state(entry.is_ready ? kReady : kUnavailable);
      model.set_reason(entry.reason);
    }
    return finish(context);
  }

  ServerUnaryReactor* RepositoryModelLoad(CallbackServerContext* context,
                                          const inference::RepositoryModelLoadRequest* request,
                                          inference::RepositoryModelLoadResponse*) override {
    ServerUnaryReactor* const reactor = context->DefaultReactor();
    core_.run_later([this, reactor, name = request->model_name()] {
      reactor->Finish(grpc_status(core_.repository.load(name)));
    });
    return reactor;
  }

  ServerUnaryReactor* RepositoryModelUnload(CallbackServerContext* context,
                                            const inference::RepositoryModelUnloadRequest* request,
                                            inference::RepositoryModelUnloadResponse*) override {
    ServerUnaryReactor* const reactor = context->DefaultReactor();
    core_.run_later([this, reactor, name = request->model_name()] {
      reactor->Finish(grpc_status(core_.repository.unload(name)));
    });
    return reactor;
  }

 private:
  Core& core_;
};

class Running : public GrpcServer {
 public:
  explicit Running(Core& core) : service_(core) {}
  ~Running() override {
    if (server_) drain(std::chrono::system_clock::now());
  }

  Status start(const GrpcOptions& options) {
    const bool is_unix = options.address.starts_with("unix:");
    credentials_ = grpc_credentials(is_unix ? nullptr : options.tls);
    grpc::ServerBuilder builder;
    int port = 0;
    builder.AddListeningPort(options.address, credentials_, &port);
    builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
    builder.SetMaxReceiveMessageSize(static_cast<int>(options.max_message_bytes));
    builder.SetMaxSendMessageSize(-1);  // a response has the size that the model gives it
    builder.RegisterService(&service_);
    server_ = builder.BuildAndStart();
    if (!server_) return invalid(options.address + ": gRPC cannot listen there");
    const size_t colon = options.address.rfind(':');
    address_ =
        is_unix ? options.address : options.address.substr(0, colon + 1) + std::to_string(port);
    return {};
  }

  std::string address() const override { return address_; }

  void set_serving(bool is_serving) override {
    if (auto* const health = server_->GetHealthCheckService()) health->SetServingStatus(is_serving);
  }

  void drain(std::chrono::system_clock::time_point deadline) override {
    server_->Shutdown(deadline);
  }

 private:
  Service service_;
  std::shared_ptr<grpc::ServerCredentials> credentials_;  // outlive the server
  std::unique_ptr<grpc::Server> server_;
  std::string address_;
};

}  // namespace

Result<std::unique_ptr<GrpcServer>> GrpcServer::listen(Core& core, const GrpcOptions& options) {
  static const bool prepared = [] {
    grpc::EnableDefaultHealthCheckService(true);
    grpc::reflection::InitProtoReflectionServerBuilderPlugin();
    return true;
  }();
  (void)prepared;
  auto server = std::make_unique<Running>(core);
  SCOPEVM_RETURN_IF_ERROR(server->start(options));
  return std::unique_ptr<GrpcServer>(std::move(server));
}

}  // namespace scopevm::serve
