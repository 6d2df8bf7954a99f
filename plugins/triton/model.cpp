#include "plugins/triton/model.h"

#include <algorithm>
#include <filesystem>

#include "plugins/triton/status.h"

namespace scopevm::triton {
namespace {

struct MessageDeleter {
  void operator()(TRITONSERVER_Message* message) const {
    log_if(TRITONSERVER_MessageDelete(message), "TRITONSERVER_MessageDelete");
  }
};
using Message = std::unique_ptr<TRITONSERVER_Message, MessageDeleter>;

Result<Config> config_of(TRITONBACKEND_Model* handle) {
  TRITONSERVER_Message* made = nullptr;
  SCOPEVM_TRITON_CALL(TRITONBACKEND_ModelConfig, handle, 1, &made);
  const Message message(made);
  const char* text = nullptr;
  size_t bytes = 0;
  SCOPEVM_TRITON_CALL(TRITONSERVER_MessageSerializeToJson, made, &text, &bytes);
  return read_config({text, bytes});
}

// Completes the configuration in Triton if it permits that, and reads it again: Triton adds fields.
Result<Config> completed(TRITONBACKEND_Model* handle, Config config, const Signature& signature) {
  bool is_enabled = false;
  SCOPEVM_TRITON_CALL(TRITONBACKEND_ModelAutoCompleteConfig, handle, &is_enabled);
  if (!is_enabled || !complete_config(config, signature)) return config;
  const std::string text = config.json.dump();
  TRITONSERVER_Message* made = nullptr;
  SCOPEVM_TRITON_CALL(TRITONSERVER_MessageNewFromSerializedJson, &made, text.data(), text.size());
  const Message message(made);
  SCOPEVM_TRITON_CALL(TRITONBACKEND_ModelSetConfig, handle, 1, made);
  return config_of(handle);
}

Result<std::filesystem::path> path_of(TRITONBACKEND_Model* handle) {
  TRITONBACKEND_ArtifactType type = TRITONBACKEND_ARTIFACT_FILESYSTEM;
  const char* folder = nullptr;
  SCOPEVM_TRITON_CALL(TRITONBACKEND_ModelRepository, handle, &type, &folder);
  if (type != TRITONBACKEND_ARTIFACT_FILESYSTEM)
    return Status(StatusCode::kUnsupported, "the model repository is not a folder");
  uint64_t version = 0;
  SCOPEVM_TRITON_CALL(TRITONBACKEND_ModelVersion, handle, &version);
  return std::filesystem::path(folder) / std::to_string(version) / "module.bc";
}

// The element type of Triton; none if scopevm has no such type.
std::optional<DType> dtype_of(TRITONSERVER_DataType type) {
  for (int i = 0; i < kDTypeCount; ++i)
    if (type_of(static_cast<DType>(i)) == type) return static_cast<DType>(i);
  return std::nullopt;
}

bool is_scope(const std::string& limited, const std::string& device, const std::string& scope) {
  return limited == scope || limited == device + "." + scope;
}

}  // namespace

Result<std::unique_ptr<Model>> Model::load(TRITONBACKEND_Model* handle) {
  SCOPEVM_ASSIGN_OR_RETURN(const std::filesystem::path path, path_of(handle));
  SCOPEVM_ASSIGN_OR_RETURN(Module module, Module::load(path.string()));
  SCOPEVM_ASSIGN_OR_RETURN(Config config, config_of(handle));
  SCOPEVM_RETURN_IF_ERROR(check_module(config, module.signature()));
  SCOPEVM_ASSIGN_OR_RETURN(config, completed(handle, std::move(config), module.signature()));
  SCOPEVM_RETURN_IF_ERROR(check_config(config, module.signature()));
  std::unique_ptr<Model> model(new Model(std::move(module), std::move(config)));
  SCOPEVM_RETURN_IF_ERROR(model->measure_constants());
  return model;
}

SessionOptions Model::session_options() const {
  SessionOptions options;
  options.threads = config_.threads;
  options.memory_limits = config_.memory_limits;
  return options;
}

// A session of its own, so that an option that it rejects is an error of the model.
Status Model::measure_constants() {
  SCOPEVM_ASSIGN_OR_RETURN(const Session session, Session::create(module_, session_options()));
  threads_ = session.threads();
  SCOPEVM_ASSIGN_OR_RETURN(const std::vector<ScopeStats> held, session.memory_stats());
  for (const MemoryScope& pool : module_.memory_scopes()) {
    int64_t available = INT64_MAX;
    for (const ScopeLimit& limit : config_.memory_limits)
      if (is_scope(limit.scope, pool.device, pool.scope))
        available = std::min(available, limit.bytes);
    for (const ScopeStats& stats : held)
      if (stats.device == pool.device && stats.scope == pool.scope)
        available -= stats.memory.live_bytes;
    available_.push_back(available);
  }
  return {};
}

Result<std::vector<InputView>> Model::inputs_of(TRITONBACKEND_Request* request) const {
  const std::vector<TensorSignature>& signatures = signature().inputs;
  std::vector<InputView> inputs(signatures.size());
  uint32_t count = 0;
  SCOPEVM_TRITON_CALL(TRITONBACKEND_RequestInputCount, request, &count);
  for (uint32_t i = 0; i < count; ++i) {
    InputView input;
    SCOPEVM_TRITON_CALL(TRITONBACKEND_RequestInputByIndex, request, i, &input.handle);
    const char* name = nullptr;
    const int64_t* dims = nullptr;
    uint32_t rank = 0;
    TRITONSERVER_DataType type = TRITONSERVER_TYPE_INVALID;
    SCOPEVM_TRITON_CALL(TRITONBACKEND_InputProperties, input.handle, &name, &type, &dims, &rank,
                        &input.bytes, &input.buffers);
    const std::string quoted = "input \"" + std::string(name) + "\"";
    const auto found = std::find_if(signatures.begin(), signatures.end(),
                                    [&](const auto& tensor) { return tensor.name == name; });
    if (found == signatures.end())
      return Status(StatusCode::kInvalidArgument, quoted + " does not exist in the module");
    const std::optional<DType> dtype = dtype_of(type);
    if (!dtype) return Status(StatusCode::kInvalidArgument, quoted + " has no valid data type");
    InputView& view = inputs[static_cast<size_t>(found - signatures.begin())];
    if (view.handle != nullptr)
      return Status(StatusCode::kInvalidArgument, quoted + " occurs twice in the request");
    input.dtype = *dtype;
    input.dims = {dims, rank};
    view = input;
  }
  return inputs;
}

std::optional<std::vector<int64_t>> Model::dims_of(std::span<const InputView> inputs) const {
  std::vector<int64_t> values;
  for (const DimensionSignature& dimension : signature().dimensions) {
    int64_t value = -1;
    for (size_t i = 0; i < inputs.size(); ++i) {
      const std::vector<std::string>& names = signature().inputs[i].dims;
      for (size_t axis = 0; axis < names.size() && axis < inputs[i].dims.size(); ++axis)
        if (names[axis] == dimension.name) value = inputs[i].dims[axis];
    }
    if (value < 0) return std::nullopt;
    values.push_back(value);
  }
  return values;
}

int64_t Model::batch_of(std::span<const InputView> inputs) const {
  if (!joins_requests()) return 1;
  for (const InputView& input : inputs)
    if (!input.dims.empty()) return input.dims[0];
  return 1;
}

void Model::set_batch(std::span<int64_t> dims, int64_t batch) const {
  const std::vector<DimensionSignature>& dimensions = signature().dimensions;
  for (size_t i = 0; i < dims.size(); ++i)
    if (dimensions[i].name == signature().inputs[0].dims[0]) dims[i] = batch;
}

bool Model::fits(std::span<const int64_t> dims) const noexcept {
  if (config_.memory_limits.empty()) return true;
  const Status status = contained([&]() -> Status {
    std::vector<int64_t> bytes(module_.memory_scopes().size());
    SCOPEVM_RETURN_IF_ERROR(module_.bound(dims, bytes, threads_));
    for (size_t i = 0; i < bytes.size(); ++i)
      if (bytes[i] > available_[i]) return Status(StatusCode::kResourceLimit, "");
    return {};
  });
  return status.ok();
}

}  // namespace scopevm::triton
