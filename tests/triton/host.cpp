#include "host.h"

#include <cstring>
#include <string_view>
#include <utility>

using scopevm::triton_test::behaviour;
using scopevm::triton_test::live;

struct TRITONSERVER_Error {
  TRITONSERVER_Error_Code code;
  std::string message;
};

struct TRITONSERVER_Message {
  std::string text;
};

struct TRITONSERVER_BufferAttributes {
  size_t bytes = 0;
};

namespace scopevm::triton_test {
namespace {

std::mutex log_mutex;
std::vector<std::string> log_messages;

}  // namespace

TRITONSERVER_Error* failure_of(const char* function) {
  if (!behaviour().failing.contains(function)) return nullptr;
  return TRITONSERVER_ErrorNew(TRITONSERVER_ERROR_INTERNAL, "injected");
}

Live& live() {
  static Live counts;
  return counts;
}

Behaviour& behaviour() {
  static Behaviour current;
  return current;
}

std::vector<std::string> take_log() {
  const std::lock_guard lock(log_mutex);
  return std::exchange(log_messages, {});
}

Value floats(const Shape& shape, const std::vector<float>& values) {
  return {TRITONSERVER_TYPE_FP32, shape,
          std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float))};
}

std::vector<float> floats_of(const Value& value) {
  std::vector<float> values(value.bytes.size() / sizeof(float));
  if (!values.empty()) std::memcpy(values.data(), value.bytes.data(), value.bytes.size());
  return values;
}

Value strings(const Shape& shape, const std::vector<std::string>& values) {
  std::string bytes;
  for (const std::string& value : values) {
    const auto length = static_cast<uint32_t>(value.size());
    bytes.append(reinterpret_cast<const char*>(&length), sizeof length).append(value);
  }
  return {TRITONSERVER_TYPE_BYTES, shape, bytes};
}

}  // namespace scopevm::triton_test

TRITONSERVER_Error* TRITONSERVER_ErrorNew(TRITONSERVER_Error_Code code, const char* message) {
  ++live().errors;
  return new TRITONSERVER_Error{code, message};
}

void TRITONSERVER_ErrorDelete(TRITONSERVER_Error* error) {
  --live().errors;
  delete error;
}

TRITONSERVER_Error_Code TRITONSERVER_ErrorCode(TRITONSERVER_Error* error) { return error->code; }

const char* TRITONSERVER_ErrorMessage(TRITONSERVER_Error* error) { return error->message.c_str(); }

TRITONSERVER_Error* TRITONSERVER_LogMessage(TRITONSERVER_LogLevel /*level*/, const char* /*file*/,
                                            int /*line*/, const char* message) {
  const std::lock_guard lock(scopevm::triton_test::log_mutex);
  scopevm::triton_test::log_messages.emplace_back(message);
  return nullptr;
}

TRITONSERVER_Error* TRITONSERVER_MessageNewFromSerializedJson(TRITONSERVER_Message** message,
                                                              const char* text, size_t bytes) {
  INJECT();
  ++live().messages;
  *message = new TRITONSERVER_Message{std::string(text, bytes)};
  return nullptr;
}

TRITONSERVER_Error* TRITONSERVER_MessageDelete(TRITONSERVER_Message* message) {
  --live().messages;
  delete message;
  return nullptr;
}

TRITONSERVER_Error* TRITONSERVER_MessageSerializeToJson(TRITONSERVER_Message* message,
                                                        const char** text, size_t* bytes) {
  INJECT();
  *text = message->text.data();
  *bytes = message->text.size();
  return nullptr;
}

extern "C" SCOPEVM_TRITON_API TRITONSERVER_Error* TRITONSERVER_BufferAttributesNew(
    TRITONSERVER_BufferAttributes** attributes) {
  INJECT();
  ++live().attributes;
  *attributes = new TRITONSERVER_BufferAttributes;
  return nullptr;
}

extern "C" SCOPEVM_TRITON_API TRITONSERVER_Error* TRITONSERVER_BufferAttributesDelete(
    TRITONSERVER_BufferAttributes* attributes) {
  --live().attributes;
  delete attributes;
  return nullptr;
}

extern "C" SCOPEVM_TRITON_API TRITONSERVER_Error* TRITONSERVER_BufferAttributesSetByteSize(
    TRITONSERVER_BufferAttributes* attributes, size_t bytes) {
  attributes->bytes = bytes;
  return nullptr;
}

extern "C" SCOPEVM_TRITON_API TRITONSERVER_Error* TRITONBACKEND_ModelInstanceReportMemoryUsage(
    TRITONBACKEND_ModelInstance* instance, TRITONSERVER_BufferAttributes** usage, uint32_t size) {
  if (size == 1) instance->memory = static_cast<int64_t>(usage[0]->bytes);
  return nullptr;
}

TRITONSERVER_Error* TRITONBACKEND_ApiVersion(uint32_t* major, uint32_t* minor) {
  *major = behaviour().major;
  *minor = behaviour().minor;
  return nullptr;
}

TRITONSERVER_Error* TRITONBACKEND_BackendAttributeAddPreferredInstanceGroup(
    TRITONBACKEND_BackendAttribute* attributes, TRITONSERVER_InstanceGroupKind kind,
    uint64_t /*count*/, const uint64_t* /*device_ids*/, uint64_t /*id_count*/) {
  attributes->kind = kind;
  return nullptr;
}

TRITONSERVER_Error* TRITONBACKEND_BackendAttributeSetParallelModelInstanceLoading(
    TRITONBACKEND_BackendAttribute* attributes, bool enabled) {
  attributes->loads_in_parallel = enabled;
  return nullptr;
}

TRITONSERVER_Error* TRITONBACKEND_ModelVersion(TRITONBACKEND_Model* model, uint64_t* version) {
  *version = model->version;
  return nullptr;
}

TRITONSERVER_Error* TRITONBACKEND_ModelRepository(TRITONBACKEND_Model* model,
                                                  TRITONBACKEND_ArtifactType* type,
                                                  const char** location) {
  *type = behaviour().artifacts;
  *location = model->folder.c_str();
  return nullptr;
}

TRITONSERVER_Error* TRITONBACKEND_ModelConfig(TRITONBACKEND_Model* model, uint32_t /*version*/,
                                              TRITONSERVER_Message** config) {
  return TRITONSERVER_MessageNewFromSerializedJson(config, model->config.data(),
                                                   model->config.size());
}

TRITONSERVER_Error* TRITONBACKEND_ModelAutoCompleteConfig(TRITONBACKEND_Model* model,
                                                          bool* is_enabled) {
  *is_enabled = model->completes;
  return nullptr;
}

TRITONSERVER_Error* TRITONBACKEND_ModelSetConfig(TRITONBACKEND_Model* model, uint32_t /*version*/,
                                                 TRITONSERVER_Message* config) {
  INJECT();
  model->config = config->text;
  return nullptr;
}

TRITONSERVER_Error* TRITONBACKEND_ModelState(TRITONBACKEND_Model* model, void** state) {
  *state = model->state;
  return nullptr;
}

TRITONSERVER_Error* TRITONBACKEND_ModelSetState(TRITONBACKEND_Model* model, void* state) {
  INJECT();
  model->state = state;
  return nullptr;
}

TRITONSERVER_Error* TRITONBACKEND_ModelInstanceKind(TRITONBACKEND_ModelInstance* /*instance*/,
                                                    TRITONSERVER_InstanceGroupKind* kind) {
  *kind = behaviour().kind;
  return nullptr;
}

TRITONSERVER_Error* TRITONBACKEND_ModelInstanceModel(TRITONBACKEND_ModelInstance* instance,
                                                     TRITONBACKEND_Model** model) {
  *model = instance->model;
  return nullptr;
}

TRITONSERVER_Error* TRITONBACKEND_ModelInstanceState(TRITONBACKEND_ModelInstance* instance,
                                                     void** state) {
  INJECT();
  *state = instance->state;
  return nullptr;
}

TRITONSERVER_Error* TRITONBACKEND_ModelInstanceSetState(TRITONBACKEND_ModelInstance* instance,
                                                        void* state) {
  INJECT();
  instance->state = state;
  return nullptr;
}

TRITONSERVER_Error* TRITONBACKEND_ModelInstanceReportStatistics(
    TRITONBACKEND_ModelInstance* /*instance*/, TRITONBACKEND_Request* request, bool success,
    uint64_t exec_start_ns, uint64_t compute_start_ns, uint64_t compute_end_ns,
    uint64_t exec_end_ns) {
  INJECT();
  const bool is_ordered = 0 < exec_start_ns && exec_start_ns <= compute_start_ns &&
                          compute_start_ns <= compute_end_ns && compute_end_ns <= exec_end_ns;
  if (is_ordered || !success) ++request->answer.reports;
  request->answer.success = success;
  request->answer.compute_start_ns = compute_start_ns;
  return nullptr;
}

TRITONSERVER_Error* TRITONBACKEND_ModelInstanceReportBatchStatistics(
    TRITONBACKEND_ModelInstance* instance, uint64_t batch_size, uint64_t exec_start_ns,
    uint64_t compute_start_ns, uint64_t compute_end_ns, uint64_t exec_end_ns) {
  if (0 < exec_start_ns && exec_start_ns <= compute_start_ns &&
      compute_start_ns <= compute_end_ns && compute_end_ns <= exec_end_ns)
    instance->batches.push_back(batch_size);
  return nullptr;
}
