// The part of Triton Inference Server's C API that the back end uses: version 1.19 of the back end
// API (triton/core/tritonbackend.h and tritonserver.h in triton-inference-server/core). The values
// of the enumerations and the signatures are those of the published headers, which are not needed.
//
// Ownership: an error that a function returns belongs to the caller. Strings, shapes and buffers
// that a request, a model or a message returns belong to that object.
#pragma once

#include <cstddef>
#include <cstdint>

#define SCOPEVM_TRITON_API __attribute__((visibility("default")))

// The version whose functions are used. Triton's version can have a larger minor number.
inline constexpr uint32_t kTritonBackendMajor = 1;
inline constexpr uint32_t kTritonBackendMinor = 19;

extern "C" {

struct TRITONSERVER_BufferAttributes;
struct TRITONSERVER_Error;
struct TRITONSERVER_Message;
struct TRITONBACKEND_Backend;
struct TRITONBACKEND_BackendAttribute;
struct TRITONBACKEND_Batcher;
struct TRITONBACKEND_Input;
struct TRITONBACKEND_Model;
struct TRITONBACKEND_ModelInstance;
struct TRITONBACKEND_Output;
struct TRITONBACKEND_Request;
struct TRITONBACKEND_Response;
struct TRITONBACKEND_State;

enum TRITONSERVER_DataType {
  TRITONSERVER_TYPE_INVALID = 0,
  TRITONSERVER_TYPE_BOOL = 1,
  TRITONSERVER_TYPE_UINT8 = 2,
  TRITONSERVER_TYPE_UINT16 = 3,
  TRITONSERVER_TYPE_UINT32 = 4,
  TRITONSERVER_TYPE_UINT64 = 5,
  TRITONSERVER_TYPE_INT8 = 6,
  TRITONSERVER_TYPE_INT16 = 7,
  TRITONSERVER_TYPE_INT32 = 8,
  TRITONSERVER_TYPE_INT64 = 9,
  TRITONSERVER_TYPE_FP16 = 10,
  TRITONSERVER_TYPE_FP32 = 11,
  TRITONSERVER_TYPE_FP64 = 12,
  TRITONSERVER_TYPE_BYTES = 13,
  TRITONSERVER_TYPE_BF16 = 14,
};

enum TRITONSERVER_MemoryType {
  TRITONSERVER_MEMORY_CPU = 0,
  TRITONSERVER_MEMORY_CPU_PINNED = 1,
  TRITONSERVER_MEMORY_GPU = 2,
};

enum TRITONSERVER_InstanceGroupKind {
  TRITONSERVER_INSTANCEGROUPKIND_AUTO = 0,
  TRITONSERVER_INSTANCEGROUPKIND_CPU = 1,
  TRITONSERVER_INSTANCEGROUPKIND_GPU = 2,
  TRITONSERVER_INSTANCEGROUPKIND_MODEL = 3,
};

enum TRITONSERVER_LogLevel {
  TRITONSERVER_LOG_INFO = 0,
  TRITONSERVER_LOG_WARN = 1,
  TRITONSERVER_LOG_ERROR = 2,
  TRITONSERVER_LOG_VERBOSE = 3,
};

enum TRITONSERVER_Error_Code {
  TRITONSERVER_ERROR_UNKNOWN = 0,
  TRITONSERVER_ERROR_INTERNAL = 1,
  TRITONSERVER_ERROR_NOT_FOUND = 2,
  TRITONSERVER_ERROR_INVALID_ARG = 3,
  TRITONSERVER_ERROR_UNAVAILABLE = 4,
  TRITONSERVER_ERROR_UNSUPPORTED = 5,
  TRITONSERVER_ERROR_ALREADY_EXISTS = 6,
  TRITONSERVER_ERROR_CANCELLED = 7,
};

enum TRITONBACKEND_ArtifactType { TRITONBACKEND_ARTIFACT_FILESYSTEM = 0 };

// Flags.
inline constexpr uint32_t TRITONSERVER_REQUEST_RELEASE_ALL = 1;
inline constexpr uint32_t TRITONSERVER_RESPONSE_COMPLETE_FINAL = 1;

// Functions of the server. TRITONSERVER_ErrorNew() copies the message.
SCOPEVM_TRITON_API TRITONSERVER_Error* TRITONSERVER_ErrorNew(TRITONSERVER_Error_Code code,
                                                             const char* message);
SCOPEVM_TRITON_API void TRITONSERVER_ErrorDelete(TRITONSERVER_Error* error);
SCOPEVM_TRITON_API TRITONSERVER_Error_Code TRITONSERVER_ErrorCode(TRITONSERVER_Error* error);
SCOPEVM_TRITON_API const char* TRITONSERVER_ErrorMessage(TRITONSERVER_Error* error);
SCOPEVM_TRITON_API TRITONSERVER_Error* TRITONSERVER_LogMessage(TRITONSERVER_LogLevel level,
                                                               const char* file, int line,
                                                               const char* message);
SCOPEVM_TRITON_API TRITONSERVER_Error* TRITONSERVER_MessageNewFromSerializedJson(
    TRITONSERVER_Message** message, const char* text, size_t bytes);
SCOPEVM_TRITON_API TRITONSERVER_Error* TRITONSERVER_MessageDelete(TRITONSERVER_Message* message);
SCOPEVM_TRITON_API TRITONSERVER_Error* TRITONSERVER_MessageSerializeToJson(
    TRITONSERVER_Message* message, const char** text, size_t* bytes);

// The back end, models and instances. The caller owns the message of TRITONBACKEND_ModelConfig(),
// and keeps that of TRITONBACKEND_ModelSetConfig().
SCOPEVM_TRITON_API TRITONSERVER_Error* TRITONBACKEND_ApiVersion(uint32_t* major, uint32_t* minor);
SCOPEVM_TRITON_API TRITONSERVER_Error* TRITONBACKEND_BackendAttributeAddPreferredInstanceGroup(
    TRITONBACKEND_BackendAttribute* attributes, TRITONSERVER_InstanceGroupKind kind, uint64_t count,
    const uint64_t* device_ids, uint64_t id_count);
SCOPEVM_TRITON_API TRITONSERVER_Error*
TRITONBACKEND_BackendAttributeSetParallelModelInstanceLoading(
    TRITONBACKEND_BackendAttribute* attributes, bool enabled);
SCOPEVM_TRITON_API TRITONSERVER_Error* TRITONBACKEND_ModelVersion(TRITONBACKEND_Model* model,
                                                                  uint64_t* version);
SCOPEVM_TRITON_API TRITONSERVER_Error* TRITONBACKEND_ModelRepository(
    TRITONBACKEND_Model* model, TRITONBACKEND_ArtifactType* type, const char** location);
SCOPEVM_TRITON_API TRITONSERVER_Error* TRITONBACKEND_ModelConfig(TRITONBACKEND_Model* model,
                                                                 uint32_t config_version,
                                                                 TRITONSERVER_Message** config);
SCOPEVM_TRITON_API TRITONSERVER_Error* TRITONBACKEND_ModelAutoCompleteConfig(
    TRITONBACKEND_Model* model, bool* is_enabled);
SCOPEVM_TRITON_API TRITONSERVER_Error* TRITONBACKEND_ModelSetConfig(TRITONBACKEND_Model* model,
                                                                    uint32_t config_version,
                                                                    TRITONSERVER_Message* config);
SCOPEVM_TRITON_API TRITONSERVER_Error* TRITONBACKEND_ModelState(TRITONBACKEND_Model* model,
                                                                void** state);
SCOPEVM_TRITON_API TRITONSERVER_Error* TRITONBACKEND_ModelSetState(TRITONBACKEND_Model* model,
                                                                   void* state);
SCOPEVM_TRITON_API TRITONSERVER_Error* TRITONBACKEND_ModelInstanceKind(
    TRITONBACKEND_ModelInstance* instance, TRITONSERVER_InstanceGroupKind* kind);
SCOPEVM_TRITON_API TRITONSERVER_Error* TRITONBACKEND_ModelInstanceModel(
    TRITONBACKEND_ModelInstance* instance, TRITONBACKEND_Model** model);
SCOPEVM_TRITON_API TRITONSERVER_Error* TRITONBACKEND_ModelInstanceState(
    TRITONBACKEND_ModelInstance* instance, void** state);
SCOPEVM_TRITON_API TRITONSERVER_Error* TRITONBACKEND_ModelInstanceSetState(
    TRITONBACKEND_ModelInstance* instance, void* state);
SCOPEVM_TRITON_API TRITONSERVER_Error* TRITONBACKEND_ModelInstanceReportStatistics(
    TRITONBACKEND_ModelInstance* instance, TRITONBACKEND_Request* request, bool success,
    uint64_t exec_start_ns, uint64_t compute_start_ns, uint64_t compute_end_ns,
    uint64_t exec_end_ns);
SCOPEVM_TRITON_API TRITONSERVER_Error* TRITONBACKEND_ModelInstanceReportBatchStatistics(
    TRITONBACKEND_ModelInstance* instance, uint64_t batch_size, uint64_t exec_start_ns,
    uint64_t compute_start_ns, uint64_t compute_end_ns, uint64_t exec_end_ns);

// Requests.
SCOPEVM_TRITON_API TRITONSERVER_Error* TRITONBACKEND_RequestIsCancelled(
    TRITONBACKEND_Request* request, bool* is_cancelled);
SCOPEVM_TRITON_API TRITONSERVER_Error* TRITONBACKEND_InferenceRequestTimeoutMicroseconds(
    TRITONBACKEND_Request* request, uint64_t* timeout_us);
SCOPEVM_TRITON_API TRITONSERVER_Error* TRITONBACKEND_RequestInputCount(
    TRITONBACKEND_Request* request, uint32_t* count);
SCOPEVM_TRITON_API TRITONSERVER_Error* TRITONBACKEND_RequestInputByIndex(
    TRITONBACKEND_Request* request, uint32_t index, TRITONBACKEND_Input** input);
SCOPEVM_TRITON_API TRITONSERVER_Error* TRITONBACKEND_RequestOutputCount(
    TRITONBACKEND_Request* request, uint32_t* count);
SCOPEVM_TRITON_API TRITONSERVER_Error* TRITONBACKEND_RequestOutputName(
    TRITONBACKEND_Request* request, uint32_t index, const char** name);
SCOPEVM_TRITON_API TRITONSERVER_Error* TRITONBACKEND_RequestRelease(TRITONBACKEND_Request* request,
                                                                    uint32_t flags);
SCOPEVM_TRITON_API TRITONSERVER_Error* TRITONBACKEND_InputProperties(
    TRITONBACKEND_Input* input, const char** name, TRITONSERVER_DataType* type,
    const int64_t** shape, uint32_t* rank, uint64_t* bytes, uint32_t* buffers);
SCOPEVM_TRITON_API TRITONSERVER_Error* TRITONBACKEND_InputBuffer(
    TRITONBACKEND_Input* input, uint32_t index, const void** buffer, uint64_t* bytes,
    TRITONSERVER_MemoryType* memory_type, int64_t* memory_type_id);

// Responses. TRITONBACKEND_ResponseSend() takes ownership of the response, but not of the error.
SCOPEVM_TRITON_API TRITONSERVER_Error* TRITONBACKEND_ResponseNew(TRITONBACKEND_Response** response,
                                                                 TRITONBACKEND_Request* request);
SCOPEVM_TRITON_API TRITONSERVER_Error* TRITONBACKEND_ResponseOutput(
    TRITONBACKEND_Response* response, TRITONBACKEND_Output** output, const char* name,
    TRITONSERVER_DataType type, const int64_t* shape, uint32_t rank);
SCOPEVM_TRITON_API TRITONSERVER_Error* TRITONBACKEND_OutputBuffer(
    TRITONBACKEND_Output* output, void** buffer, uint64_t bytes,
    TRITONSERVER_MemoryType* memory_type, int64_t* memory_type_id);
SCOPEVM_TRITON_API TRITONSERVER_Error* TRITONBACKEND_ResponseSend(TRITONBACKEND_Response* response,
                                                                  uint32_t flags,
                                                                  TRITONSERVER_Error* error);

// States of sequences. A state belongs to its request.
SCOPEVM_TRITON_API TRITONSERVER_Error* TRITONBACKEND_StateNew(TRITONBACKEND_State** state,
                                                              TRITONBACKEND_Request* request,
                                                              const char* name,
                                                              TRITONSERVER_DataType type,
                                                              const int64_t* shape, uint32_t rank);
SCOPEVM_TRITON_API TRITONSERVER_Error* TRITONBACKEND_StateBuffer(
    TRITONBACKEND_State* state, void** buffer, uint64_t bytes, TRITONSERVER_MemoryType* memory_type,
    int64_t* memory_type_id);
SCOPEVM_TRITON_API TRITONSERVER_Error* TRITONBACKEND_StateUpdate(TRITONBACKEND_State* state);

// The functions that the back end exports.
SCOPEVM_TRITON_API TRITONSERVER_Error* TRITONBACKEND_Initialize(TRITONBACKEND_Backend* backend);
SCOPEVM_TRITON_API TRITONSERVER_Error* TRITONBACKEND_GetBackendAttribute(
    TRITONBACKEND_Backend* backend, TRITONBACKEND_BackendAttribute* attributes);
SCOPEVM_TRITON_API TRITONSERVER_Error* TRITONBACKEND_ModelInitialize(TRITONBACKEND_Model* model);
SCOPEVM_TRITON_API TRITONSERVER_Error* TRITONBACKEND_ModelFinalize(TRITONBACKEND_Model* model);
SCOPEVM_TRITON_API TRITONSERVER_Error* TRITONBACKEND_ModelInstanceInitialize(
    TRITONBACKEND_ModelInstance* instance);
SCOPEVM_TRITON_API TRITONSERVER_Error* TRITONBACKEND_ModelInstanceFinalize(
    TRITONBACKEND_ModelInstance* instance);
SCOPEVM_TRITON_API TRITONSERVER_Error* TRITONBACKEND_ModelInstanceExecute(
    TRITONBACKEND_ModelInstance* instance, TRITONBACKEND_Request** requests, uint32_t count);
SCOPEVM_TRITON_API TRITONSERVER_Error* TRITONBACKEND_ModelBatcherInitialize(
    TRITONBACKEND_Batcher** batcher, TRITONBACKEND_Model* model);
SCOPEVM_TRITON_API TRITONSERVER_Error* TRITONBACKEND_ModelBatcherFinalize(
    TRITONBACKEND_Batcher* batcher);
SCOPEVM_TRITON_API TRITONSERVER_Error* TRITONBACKEND_ModelBatchIncludeRequest(
    TRITONBACKEND_Request* request, void* userp, bool* should_include);
SCOPEVM_TRITON_API TRITONSERVER_Error* TRITONBACKEND_ModelBatchInitialize(
    const TRITONBACKEND_Batcher* batcher, void** userp);
SCOPEVM_TRITON_API TRITONSERVER_Error* TRITONBACKEND_ModelBatchFinalize(void* userp);

// Optional functions of the server, found by name when they are first needed.
using TritonReportMemoryUsage = TRITONSERVER_Error* (*)(TRITONBACKEND_ModelInstance* instance,
                                                        TRITONSERVER_BufferAttributes** usage,
                                                        uint32_t usage_size);
using TritonAttributesNew = TRITONSERVER_Error* (*)(TRITONSERVER_BufferAttributes** attributes);
using TritonAttributesDelete = TRITONSERVER_Error* (*)(TRITONSERVER_BufferAttributes* attributes);
using TritonAttributesSetBytes = TRITONSERVER_Error* (*)(TRITONSERVER_BufferAttributes* attributes,
                                                         size_t bytes);

}  // extern "C"
