// The driver's functions, found when the program runs: nothing here links OpenCL. A table is plain
// pointers, so tests put functions of their own between the device and the driver.
#pragma once

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

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
  F(clReleaseEvent)                 \
  F(clFlush)                        \
  F(clFinish)

namespace scopevm::runtime::opencl {

struct Api {
#define SCOPEVM_OPENCL_MEMBER(name) decltype(&::name) name = nullptr;
  SCOPEVM_OPENCL_FUNCTIONS(SCOPEVM_OPENCL_MEMBER)
#undef SCOPEVM_OPENCL_MEMBER
};

// The functions of libOpenCL.so.1, loaded by the first call and kept for as long as the process.
// Errors: kNotFound when there is no such library, or it lacks a function.
Result<const Api*> load_api();

// "CL_OUT_OF_RESOURCES"; "error -9999" for numbers that have no name.
std::string error_name(cl_int error);

// Ok for CL_SUCCESS, else kDevice with the call's and the error's names.
Status check(cl_int error, const char* call);

// True for errors of calls with valid arguments that say that the device or its queue is gone: what
// lay in its memory can no longer be trusted.
bool means_loss(cl_int error);

// Owns one reference to a driver's object.
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
