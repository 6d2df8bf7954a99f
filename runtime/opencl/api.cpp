// Loads the driver's functions, and names its errors.
#include "runtime/opencl/api.h"

#include <dlfcn.h>

namespace scopevm::runtime::opencl {
namespace {

constexpr char kLibrary[] = "libOpenCL.so.1";

struct Loaded {
  Api api;
  Status status;
};

Loaded load() {
  Loaded loaded;
  void* library = dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* reason = dlerror();
    loaded.status = {StatusCode::kNotFound, std::string("no OpenCL on this machine: ") +
                                                (reason ? reason : "cannot load its library")};
    return loaded;
  }
#define SCOPEVM_OPENCL_FIND(name)                                                       \
  loaded.api.name = reinterpret_cast<decltype(loaded.api.name)>(dlsym(library, #name)); \
  if (loaded.api.name == nullptr)                                                       \
    loaded.status = Status(StatusCode::kNotFound, std::string(kLibrary) + " has no " #name);
  SCOPEVM_OPENCL_FUNCTIONS(SCOPEVM_OPENCL_FIND)
#undef SCOPEVM_OPENCL_FIND
  return loaded;
}

// CL_PLATFORM_NOT_FOUND_KHR: what the loader of drivers says when it has none.
constexpr cl_int kNoPlatform = -1001;

}  // namespace

Result<const Api*> load_api() {
  static const Loaded loaded = load();
  if (!loaded.status.is_ok()) return loaded.status;
  return &loaded.api;
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
    case kNoPlatform:
      return "CL_PLATFORM_NOT_FOUND_KHR";
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
