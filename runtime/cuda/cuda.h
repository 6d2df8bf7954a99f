// Lists CUDA devices. Kernels are not compiled for CUDA: NVIDIA devices are used through OpenCL
// (runtime/opencl). The first call of list_cuda_devices() loads the CUDA driver, if there is one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "scopevm/status.h"

namespace scopevm::runtime {

// The properties of one device, as the driver reports them.
struct CudaDeviceFacts {
  std::string name;                // printable ASCII; other characters are replaced by '?'
  std::string compute_capability;  // "9.0"
  std::string driver_version;      // "12.4", the newest CUDA version that the driver supports
  int64_t memory_bytes = 0;
  int64_t multiprocessors = 0;
  bool shares_host_memory = false;
};

// Lists all devices in the driver's order, which `CUDA_VISIBLE_DEVICES` changes. Does not create a
// CUDA context. Errors: kNotFound (no driver or no device), kDevice (the driver failed).
Result<std::vector<CudaDeviceFacts>> list_cuda_devices();

namespace cuda {

// The functions of the CUDA driver API that are used here. They are declared without the CUDA
// headers, with int for CUresult, CUdevice and CUdevice_attribute. Tests replace the pointers.
struct Api {
  int (*cuInit)(unsigned int flags) = nullptr;
  int (*cuDriverGetVersion)(int* version) = nullptr;
  int (*cuDeviceGetCount)(int* count) = nullptr;
  int (*cuDeviceGet)(int* device, int number) = nullptr;
  int (*cuDeviceGetName)(char* name, int size, int device) = nullptr;
  int (*cuDeviceTotalMem_v2)(size_t* bytes, int device) = nullptr;
  int (*cuDeviceGetAttribute)(int* value, int attribute, int device) = nullptr;
  int (*cuGetErrorName)(int error, const char** name) = nullptr;  // null in old drivers
};

// Like list_cuda_devices(), with the functions of `api`.
Result<std::vector<CudaDeviceFacts>> list_devices(const Api& api);

}  // namespace cuda
}  // namespace scopevm::runtime
