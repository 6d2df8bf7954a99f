// The OpenCL functions, resolved at run time: scopevm does not link against OpenCL. They are a
// table of pointers, so that tests can intercept the calls.
#pragma once

// Only clSVMAlloc and clSVMFree are newer than OpenCL 1.2.
#define CL_TARGET_OPENCL_VERSION 200
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <CL/cl_ext.h>

#include <string>
#include <utility>

#include "scopevm/status.h"

#define SCOPEVM_OPENCL_FUNCTIONS(F) \
  F(clGetPlatformIDs)               \
  F(clGetPlatformInfo)              \
  F(clGetDeviceIDs)                 \
  F(clGetDeviceInfo)                \
  F(clCreateContext)                \
  F(clReleaseContext)               \
  F(clCreateCommandQueue)           \
  F(clReleaseCommandQueue)          \
  F(clCreateBuffer)                 \
  F(clReleaseMemObject)             \
  F(clEnqueueReadBuffer)            \
  F(clEnqueueWriteBuffer)           \
  F(clEnqueueCopyBuffer)            \
  F(clEnqueueMapBuffer)             \
  F(clEnqueueUnmapMemObject)        \
  F(clCreateProgramWithSource)      \
  F(clBuildProgram)                 \
  F(clGetProgramBuildInfo)          \
  F(clReleaseProgram)               \
  F(clCreateKernel)                 \
  F(clGetKernelInfo)                \
  F(clSetKernelArg)                 \
  F(clReleaseKernel)                \
  F(clEnqueueNDRangeKernel)         \
  F(clWaitForEvents)                \
  F(clGetEventInfo)                 \
  F(clGetEventProfilingInfo)        \
  F(clReleaseEvent)                 \
  F(clSetEventCallback)             \
  F(clFlush)                        \
  F(clFinish)

namespace scopevm::runtime::opencl {

struct Api {
#define SCOPEVM_OPENCL_MEMBER(name) decltype(&::name) name = nullptr;
  SCOPEVM_OPENCL_FUNCTIONS(SCOPEVM_OPENCL_MEMBER)
#undef SCOPEVM_OPENCL_MEMBER
  // Null before OpenCL 2.0.
  decltype(&::clSVMAlloc) clSVMAlloc = nullptr;
  decltype(&::clSVMFree) clSVMFree = nullptr;
};

// Loads libOpenCL.so.1 on the first call; it is never unloaded. Errors: kNotFound (no such library,
// or it lacks a function).
Result<const Api*> load_api();

// Returns the name of an error code, such as "CL_OUT_OF_RESOURCES", or "error -9999" for an unknown
// code.
std::string error_name(cl_int error);

// Ok for CL_SUCCESS, else kDevice with the names of the call and the error.
Status check(cl_int error, const char* call);

// Whether the error of a call with valid arguments means that the device or its queue is lost. The
// contents of the device's memory are then undefined.
bool means_loss(cl_int error);

// Owns one reference to an OpenCL object.
template <typename Object>
class Handle {
 public:
  using Release = cl_int(CL_API_CALL*)(Object);
  Handle() = default;
  Handle(Object object, Release release) : object_(object), release_(release) {}
  Handle(Handle&& other) noexcept
      : object_(std::exchange(other.object_, nullptr)), release_(other.release_) {}
  Handle& operator=(Handle&& other) noexcept {
    std::swap(object_, other.object_);
    std::swap(release_, other.release_);
    return *this;
  }
  ~Handle() {
    if (object_ != nullptr) release_(object_);
  }
  Object get() const { return object_; }

 private:
  Object object_ = nullptr;
  Release release_ = nullptr;
};

}  // namespace scopevm::runtime::opencl
