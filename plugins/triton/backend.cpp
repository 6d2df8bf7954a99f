// The functions that Triton calls, except the batching callbacks (batcher.cpp).
#include <memory>
#include <span>
#include <string>

#include "plugins/triton/instance.h"
#include "plugins/triton/model.h"
#include "plugins/triton/status.h"

using scopevm::Status;
using scopevm::StatusCode;
using scopevm::triton::guarded;
using scopevm::triton::Instance;
using scopevm::triton::Model;

TRITONSERVER_Error* TRITONBACKEND_Initialize(TRITONBACKEND_Backend* /*backend*/) {
  return guarded([&]() -> Status {
    uint32_t major = 0;
    uint32_t minor = 0;
    SCOPEVM_TRITON_CALL(TRITONBACKEND_ApiVersion, &major, &minor);
    if (major == kTritonBackendMajor && minor >= kTritonBackendMinor) return {};
    return {StatusCode::kUnsupported,
            "the server has version " + std::to_string(major) + "." + std::to_string(minor) +
                " of the back end API, expected version " + std::to_string(kTritonBackendMajor) +
                "." + std::to_string(kTritonBackendMinor) + " or later with the same major number"};
  });
}

TRITONSERVER_Error* TRITONBACKEND_GetBackendAttribute(TRITONBACKEND_Backend* /*backend*/,
                                                      TRITONBACKEND_BackendAttribute* attributes) {
  return guarded([&]() -> Status {
    SCOPEVM_TRITON_CALL(TRITONBACKEND_BackendAttributeAddPreferredInstanceGroup, attributes,
                        TRITONSERVER_INSTANCEGROUPKIND_CPU, 0, nullptr, 0);
    SCOPEVM_TRITON_CALL(TRITONBACKEND_BackendAttributeSetParallelModelInstanceLoading, attributes,
                        true);
    return {};
  });
}

TRITONSERVER_Error* TRITONBACKEND_ModelInitialize(TRITONBACKEND_Model* model) {
  return guarded([&]() -> Status {
    SCOPEVM_ASSIGN_OR_RETURN(std::unique_ptr<Model> loaded, Model::load(model));
    SCOPEVM_TRITON_CALL(TRITONBACKEND_ModelSetState, model, loaded.get());
    (void)loaded.release();  // the state of the model owns it
    return {};
  });
}

TRITONSERVER_Error* TRITONBACKEND_ModelFinalize(TRITONBACKEND_Model* model) {
  return guarded([&]() -> Status {
    void* state = nullptr;
    SCOPEVM_TRITON_CALL(TRITONBACKEND_ModelState, model, &state);
    delete static_cast<Model*>(state);
    return {};
  });
}

TRITONSERVER_Error* TRITONBACKEND_ModelInstanceInitialize(TRITONBACKEND_ModelInstance* instance) {
  return guarded([&]() -> Status {
    SCOPEVM_ASSIGN_OR_RETURN(std::unique_ptr<Instance> created, Instance::create(instance));
    SCOPEVM_TRITON_CALL(TRITONBACKEND_ModelInstanceSetState, instance, created.get());
    (void)created.release();  // the state of the instance owns it
    return {};
  });
}

TRITONSERVER_Error* TRITONBACKEND_ModelInstanceFinalize(TRITONBACKEND_ModelInstance* instance) {
  return guarded([&]() -> Status {
    void* state = nullptr;
    SCOPEVM_TRITON_CALL(TRITONBACKEND_ModelInstanceState, instance, &state);
    delete static_cast<Instance*>(state);
    return {};
  });
}

TRITONSERVER_Error* TRITONBACKEND_ModelInstanceExecute(TRITONBACKEND_ModelInstance* instance,
                                                       TRITONBACKEND_Request** requests,
                                                       uint32_t count) {
  return guarded([&]() -> Status {
    void* state = nullptr;
    SCOPEVM_TRITON_CALL(TRITONBACKEND_ModelInstanceState, instance, &state);
    return static_cast<Instance*>(state)->execute({requests, count});
  });
}
