// CUDA devices: which there are. That is all that is asked of the driver: no kernels are compiled
// for CUDA, and these devices are reached by OpenCL (runtime/opencl). The driver is loaded by the
// first call, as OpenCL's is; a machine without one only gets errors from here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "scopevm/status.h"

namespace scopevm::runtime {

// What the driver says of one device.
struct CudaDeviceFacts {
  std::string name;                // in ASCII; '?' for what is not
  std::string compute_capability;  // "9.0"
  std::string driver_version;      // "12.4", the newest CUDA that the driver knows
  int64_t memory_bytes = 0;
  int64_t multiprocessors = 0;
  bool shares_host_memory = false;
};

// All devices, in the driver's order; `CUDA_VISIBLE_DEVICES` changes it. Makes no context. Errors:
// kNotFound when there is no driver or no device, kDevice when the driver fails.
Result<std::vector<CudaDeviceFacts>> list_cuda_devices();

namespace cuda {

// The driver's functions that are used here. No header of CUDA's is needed: results are a CUresult,
// devices a CUdevice, attributes a CUdevice_attribute, each as wide as int. Plain pointers, so that
// tests have a driver of their own.
struct Api {
  int (*cuInit)(unsigned int flags) = nullptr;
  int (*cuDriverGetVersion)(int* version) = nullptr;
  int (*cuDeviceGetCount)(int* count) = nullptr;
  int (*cuDeviceGet)(int* device, int number) = nullptr;
  int (*cuDeviceGetName)(char* name, int size, int device) = nullptr;
  int (*cuDeviceTotalMem_v2)(size_t* bytes, int device) = nullptr;
  int (*cuDeviceGetAttribute)(int* value, int attribute, int device) = nullptr;
  int (*cuGetErrorName)(int error, const char** name) = nullptr;  // may be null
};

// The same by the functions of `api`.
Result<std::vector<CudaDeviceFacts>> list_devices(const Api& api);

}  // namespace cuda
}  // namespace scopevm::runtime
