// The functions of requests, responses and states.
#include <cstring>

#include "host.h"

using scopevm::triton_test::Answer;
using scopevm::triton_test::behaviour;
using scopevm::triton_test::live;
using scopevm::triton_test::Value;

struct TRITONBACKEND_Response {
  TRITONBACKEND_Request* request = nullptr;
  std::vector<std::unique_ptr<TRITONBACKEND_Output>> outputs;
};

namespace {

TRITONSERVER_Error* give_buffer(TRITONBACKEND_Output& output, void** buffer, uint64_t bytes,
                                TRITONSERVER_MemoryType* type) {
  if (bytes > (uint64_t{1} << 32))
    return TRITONSERVER_ErrorNew(TRITONSERVER_ERROR_UNAVAILABLE, "no memory for the output");
  output.offset = behaviour().has_misaligned_outputs ? 1 : 0;
  output.buffer.resize(bytes + output.offset);
  *buffer = behaviour().has_null_outputs ? nullptr : output.buffer.data() + output.offset;
  *type = behaviour().has_gpu_outputs ? TRITONSERVER_MEMORY_GPU : TRITONSERVER_MEMORY_CPU;
  return nullptr;
}

Value taken(const TRITONBACKEND_Output& output) {
  Value value = output.value;
  if (!output.buffer.empty())
    value.bytes.assign(output.buffer.begin() + static_cast<ptrdiff_t>(output.offset),
                       output.buffer.end());
  return value;
}

}  // namespace

TRITONBACKEND_Request& TRITONBACKEND_Request::input(const std::string& name, Value value,
                                                    int buffers) {
  auto added = std::make_unique<TRITONBACKEND_Input>();
  added->name = name;
  const size_t size = value.bytes.size();
  const auto count = static_cast<size_t>(buffers);
  for (size_t i = 0; i < count; ++i)
    added->buffers.push_back(
        value.bytes.substr(size * i / count, size * (i + 1) / count - size * i / count));
  added->value = std::move(value);
  inputs.push_back(std::move(added));
  return *this;
}

TRITONBACKEND_Request& TRITONBACKEND_Request::output(const std::string& name) {
  outputs.push_back(name);
  return *this;
}

TRITONSERVER_Error* TRITONBACKEND_RequestIsCancelled(TRITONBACKEND_Request* request,
                                                     bool* is_cancelled) {
  INJECT();
  if (request->queries_until_cancelled >= 0 && request->queries_until_cancelled-- == 0)
    request->is_cancelled = true;
  *is_cancelled = request->is_cancelled;
  return nullptr;
}

TRITONSERVER_Error* TRITONBACKEND_InferenceRequestTimeoutMicroseconds(
    TRITONBACKEND_Request* request, uint64_t* timeout_us) {
  INJECT();
  *timeout_us = request->timeout_us;
  return nullptr;
}

TRITONSERVER_Error* TRITONBACKEND_RequestInputCount(TRITONBACKEND_Request* request,
                                                    uint32_t* count) {
  INJECT();
  *count = static_cast<uint32_t>(request->inputs.size());
  return nullptr;
}

TRITONSERVER_Error* TRITONBACKEND_RequestInputByIndex(TRITONBACKEND_Request* request,
                                                      uint32_t index, TRITONBACKEND_Input** input) {
  INJECT();
  *input = request->inputs.at(index).get();
  return nullptr;
}

TRITONSERVER_Error* TRITONBACKEND_RequestOutputCount(TRITONBACKEND_Request* request,
                                                     uint32_t* count) {
  INJECT();
  *count = static_cast<uint32_t>(request->outputs.size());
  return nullptr;
}

TRITONSERVER_Error* TRITONBACKEND_RequestOutputName(TRITONBACKEND_Request* request, uint32_t index,
                                                    const char** name) {
  INJECT();
  *name = request->outputs.at(index).c_str();
  return nullptr;
}

// The inputs end with the request: a later use of their buffers is an error of AddressSanitizer.
TRITONSERVER_Error* TRITONBACKEND_RequestRelease(TRITONBACKEND_Request* request, uint32_t flags) {
  if (flags == TRITONSERVER_REQUEST_RELEASE_ALL) ++request->answer.releases;
  request->inputs.clear();
  request->states.clear();
  return nullptr;
}

TRITONSERVER_Error* TRITONBACKEND_InputProperties(TRITONBACKEND_Input* input, const char** name,
                                                  TRITONSERVER_DataType* type,
                                                  const int64_t** shape, uint32_t* rank,
                                                  uint64_t* bytes, uint32_t* buffers) {
  INJECT();
  *name = input->name.c_str();
  *type = input->value.type;
  *shape = input->value.shape.data();
  *rank = static_cast<uint32_t>(input->value.shape.size());
  *bytes = input->value.bytes.size();
  if (const auto found = behaviour().added_bytes.find(input->name);
      found != behaviour().added_bytes.end())
    *bytes += static_cast<uint64_t>(found->second);
  *buffers = static_cast<uint32_t>(input->buffers.size());
  return nullptr;
}

TRITONSERVER_Error* TRITONBACKEND_InputBuffer(TRITONBACKEND_Input* input, uint32_t index,
                                              const void** buffer, uint64_t* bytes,
                                              TRITONSERVER_MemoryType* memory_type,
                                              int64_t* memory_type_id) {
  INJECT();
  *buffer = input->buffers.at(index).data();
  *bytes = input->buffers.at(index).size();
  *memory_type = behaviour().has_gpu_inputs ? TRITONSERVER_MEMORY_GPU : TRITONSERVER_MEMORY_CPU;
  *memory_type_id = 0;
  return nullptr;
}

TRITONSERVER_Error* TRITONBACKEND_ResponseNew(TRITONBACKEND_Response** response,
                                              TRITONBACKEND_Request* request) {
  INJECT();
  ++live().responses;
  *response = new TRITONBACKEND_Response{request, {}};
  return nullptr;
}

TRITONSERVER_Error* TRITONBACKEND_ResponseOutput(TRITONBACKEND_Response* response,
                                                 TRITONBACKEND_Output** output, const char* name,
                                                 TRITONSERVER_DataType type, const int64_t* shape,
                                                 uint32_t rank) {
  INJECT();
  auto& made = response->outputs.emplace_back(std::make_unique<TRITONBACKEND_Output>());
  made->name = name;
  made->value = {type, {shape, shape + rank}, ""};
  *output = made.get();
  return nullptr;
}

TRITONSERVER_Error* TRITONBACKEND_OutputBuffer(TRITONBACKEND_Output* output, void** buffer,
                                               uint64_t bytes, TRITONSERVER_MemoryType* memory_type,
                                               int64_t* /*memory_type_id*/) {
  INJECT();
  return give_buffer(*output, buffer, bytes, memory_type);
}

TRITONSERVER_Error* TRITONBACKEND_ResponseSend(TRITONBACKEND_Response* response, uint32_t flags,
                                               TRITONSERVER_Error* error) {
  const std::unique_ptr<TRITONBACKEND_Response> owned(response);
  --live().responses;
  INJECT();
  Answer& answer = response->request->answer;
  if (flags == TRITONSERVER_RESPONSE_COMPLETE_FINAL) ++answer.responses;
  if (error != nullptr) {
    answer.code = TRITONSERVER_ErrorCode(error);
    answer.error = TRITONSERVER_ErrorMessage(error);
    return nullptr;
  }
  for (const auto& output : response->outputs) answer.outputs[output->name] = taken(*output);
  return nullptr;
}

TRITONSERVER_Error* TRITONBACKEND_StateNew(TRITONBACKEND_State** state,
                                           TRITONBACKEND_Request* request, const char* name,
                                           TRITONSERVER_DataType type, const int64_t* shape,
                                           uint32_t rank) {
  INJECT();
  auto& made = request->states.emplace_back(std::make_unique<TRITONBACKEND_State>());
  made->name = name;
  made->value = {type, {shape, shape + rank}, ""};
  made->request = request;
  *state = made.get();
  return nullptr;
}

TRITONSERVER_Error* TRITONBACKEND_StateBuffer(TRITONBACKEND_State* state, void** buffer,
                                              uint64_t bytes, TRITONSERVER_MemoryType* memory_type,
                                              int64_t* /*memory_type_id*/) {
  INJECT();
  return give_buffer(*state, buffer, bytes, memory_type);
}

TRITONSERVER_Error* TRITONBACKEND_StateUpdate(TRITONBACKEND_State* state) {
  INJECT();
  state->request->answer.states[state->name] = taken(*state);
  return nullptr;
}
