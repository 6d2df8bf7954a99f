// Resolves the OpenCL functions and names error codes.
#include "runtime/opencl/api.h"

#include "runtime/device/driver_library.h"

namespace scopevm::runtime::opencl {
namespace {

Result<Api> load() {
  Result<DriverLibrary> library = DriverLibrary::load("libOpenCL.so.1");
  if (!library.ok()) return std::move(library).status().with_context("no OpenCL on this machine");
  Api api;
#define SCOPEVM_OPENCL_FIND(name) SCOPEVM_RETURN_IF_ERROR(library->find(#name, api.name));
  SCOPEVM_OPENCL_FUNCTIONS(SCOPEVM_OPENCL_FIND)
#undef SCOPEVM_OPENCL_FIND
  if (!library->find("clSVMAlloc", api.clSVMAlloc).ok() ||
      !library->find("clSVMFree", api.clSVMFree).ok())
    api.clSVMAlloc = nullptr;
  return api;
}

}  // namespace

Result<const Api*> load_api() {
  // A failure is stored too, so that the library is searched once per process.
  static const Result<Api> api = load();
  if (!api.ok()) return api.status();
  return &*api;
}

std::string error_name(cl_int error) {
#define SCOPEVM_OPENCL_NAME(name) \
  case name:                      \
    return #name;
  switch (error) {
    SCOPEVM_OPENCL_NAME(CL_SUCCESS)
    SCOPEVM_OPENCL_NAME(CL_DEVICE_NOT_FOUND)
    SCOPEVM_OPENCL_NAME(CL_DEVICE_NOT_AVAILABLE)
    SCOPEVM_OPENCL_NAME(CL_COMPILER_NOT_AVAILABLE)
    SCOPEVM_OPENCL_NAME(CL_MEM_OBJECT_ALLOCATION_FAILURE)
    SCOPEVM_OPENCL_NAME(CL_OUT_OF_RESOURCES)
    SCOPEVM_OPENCL_NAME(CL_OUT_OF_HOST_MEMORY)
    SCOPEVM_OPENCL_NAME(CL_MEM_COPY_OVERLAP)
    SCOPEVM_OPENCL_NAME(CL_BUILD_PROGRAM_FAILURE)
    SCOPEVM_OPENCL_NAME(CL_MISALIGNED_SUB_BUFFER_OFFSET)
    SCOPEVM_OPENCL_NAME(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST)
    SCOPEVM_OPENCL_NAME(CL_COMPILE_PROGRAM_FAILURE)
    SCOPEVM_OPENCL_NAME(CL_LINKER_NOT_AVAILABLE)
    SCOPEVM_OPENCL_NAME(CL_LINK_PROGRAM_FAILURE)
    SCOPEVM_OPENCL_NAME(CL_INVALID_VALUE)
    SCOPEVM_OPENCL_NAME(CL_INVALID_PLATFORM)
    SCOPEVM_OPENCL_NAME(CL_INVALID_DEVICE)
    SCOPEVM_OPENCL_NAME(CL_INVALID_CONTEXT)
    SCOPEVM_OPENCL_NAME(CL_INVALID_QUEUE_PROPERTIES)
    SCOPEVM_OPENCL_NAME(CL_INVALID_COMMAND_QUEUE)
    SCOPEVM_OPENCL_NAME(CL_INVALID_MEM_OBJECT)
    SCOPEVM_OPENCL_NAME(CL_INVALID_BINARY)
    SCOPEVM_OPENCL_NAME(CL_INVALID_BUILD_OPTIONS)
    SCOPEVM_OPENCL_NAME(CL_INVALID_PROGRAM)
    SCOPEVM_OPENCL_NAME(CL_INVALID_PROGRAM_EXECUTABLE)
    SCOPEVM_OPENCL_NAME(CL_INVALID_KERNEL_NAME)
    SCOPEVM_OPENCL_NAME(CL_INVALID_KERNEL_DEFINITION)
    SCOPEVM_OPENCL_NAME(CL_INVALID_KERNEL)
    SCOPEVM_OPENCL_NAME(CL_INVALID_ARG_INDEX)
    SCOPEVM_OPENCL_NAME(CL_INVALID_ARG_VALUE)
    SCOPEVM_OPENCL_NAME(CL_INVALID_ARG_SIZE)
    SCOPEVM_OPENCL_NAME(CL_INVALID_KERNEL_ARGS)
    SCOPEVM_OPENCL_NAME(CL_INVALID_WORK_DIMENSION)
    SCOPEVM_OPENCL_NAME(CL_INVALID_WORK_GROUP_SIZE)
    SCOPEVM_OPENCL_NAME(CL_INVALID_WORK_ITEM_SIZE)
    SCOPEVM_OPENCL_NAME(CL_INVALID_GLOBAL_OFFSET)
    SCOPEVM_OPENCL_NAME(CL_INVALID_EVENT_WAIT_LIST)
    SCOPEVM_OPENCL_NAME(CL_INVALID_EVENT)
    SCOPEVM_OPENCL_NAME(CL_INVALID_OPERATION)
    SCOPEVM_OPENCL_NAME(CL_INVALID_BUFFER_SIZE)
    SCOPEVM_OPENCL_NAME(CL_INVALID_GLOBAL_WORK_SIZE)
    SCOPEVM_OPENCL_NAME(CL_INVALID_PROPERTY)
    SCOPEVM_OPENCL_NAME(CL_PLATFORM_NOT_FOUND_KHR)
    default:
      return "error " + std::to_string(error);
  }
#undef SCOPEVM_OPENCL_NAME
}

Status check(cl_int error, const char* call) {
  if (error == CL_SUCCESS) return {};
  return {StatusCode::kDevice, std::string(call) + ": " + error_name(error)};
}

bool means_loss(cl_int error) {
  return error == CL_DEVICE_NOT_AVAILABLE || error == CL_INVALID_DEVICE ||
         error == CL_INVALID_CONTEXT || error == CL_INVALID_COMMAND_QUEUE;
}

}  // namespace scopevm::runtime::opencl
