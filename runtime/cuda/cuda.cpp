// Loads the CUDA driver and queries its devices; see cuda.h.
#include "runtime/cuda/cuda.h"

#include <algorithm>
#include <array>

#include "runtime/device/driver_library.h"

namespace scopevm::runtime {
namespace cuda {
namespace {

// Values of CUresult.
constexpr int kSuccess = 0;
constexpr int kNoDevice = 100;

// Values of CUdevice_attribute.
constexpr int kMultiprocessorCount = 16;
constexpr int kIsIntegrated = 18;
constexpr int kCapabilityMajor = 75;
constexpr int kCapabilityMinor = 76;

Result<Api> load() {
  SCOPEVM_ASSIGN_OR_RETURN(const DriverLibrary library, DriverLibrary::load("libcuda.so.1"));
  Api api;
#define SCOPEVM_CUDA_FIND(name) SCOPEVM_RETURN_IF_ERROR(library.find(#name, api.name))
  SCOPEVM_CUDA_FIND(cuInit);
  SCOPEVM_CUDA_FIND(cuDriverGetVersion);
  SCOPEVM_CUDA_FIND(cuDeviceGetCount);
  SCOPEVM_CUDA_FIND(cuDeviceGet);
  SCOPEVM_CUDA_FIND(cuDeviceGetName);
  SCOPEVM_CUDA_FIND(cuDeviceTotalMem_v2);
  SCOPEVM_CUDA_FIND(cuDeviceGetAttribute);
#undef SCOPEVM_CUDA_FIND
  // Old drivers lack this function; their errors are reported as numbers.
  if (!library.find("cuGetErrorName", api.cuGetErrorName).ok()) api.cuGetErrorName = nullptr;
  return api;
}

Status check(const Api& api, int error, const char* call) {
  if (error == kSuccess) return {};
  const char* name = nullptr;
  if (api.cuGetErrorName == nullptr || api.cuGetErrorName(error, &name) != kSuccess) name = nullptr;
  return {StatusCode::kDevice,
          std::string(call) + ": " + (name ? name : "error " + std::to_string(error))};
}

Result<int> attribute_of(const Api& api, int device, int attribute) {
  int value = 0;
  SCOPEVM_RETURN_IF_ERROR(
      check(api, api.cuDeviceGetAttribute(&value, attribute, device), "cuDeviceGetAttribute"));
  return value;
}

// The driver does not NUL-terminate a name that fills the array.
Result<std::string> name_of(const Api& api, int device) {
  std::array<char, 256> name{};
  SCOPEVM_RETURN_IF_ERROR(
      check(api, api.cuDeviceGetName(name.data(), name.size(), device), "cuDeviceGetName"));
  std::string text(name.begin(), std::ranges::find(name, '\0'));
  std::ranges::replace_if(text, [](char c) { return c < ' ' || c > '~'; }, '?');
  return text;
}

Result<CudaDeviceFacts> facts_of(const Api& api, int number) {
  int device = 0;
  SCOPEVM_RETURN_IF_ERROR(check(api, api.cuDeviceGet(&device, number), "cuDeviceGet"));
  CudaDeviceFacts facts;
  SCOPEVM_ASSIGN_OR_RETURN(facts.name, name_of(api, device));
  size_t bytes = 0;
  SCOPEVM_RETURN_IF_ERROR(
      check(api, api.cuDeviceTotalMem_v2(&bytes, device), "cuDeviceTotalMem_v2"));
  facts.memory_bytes = static_cast<int64_t>(std::min<uint64_t>(bytes, INT64_MAX));
  SCOPEVM_ASSIGN_OR_RETURN(facts.multiprocessors, attribute_of(api, device, kMultiprocessorCount));
  SCOPEVM_ASSIGN_OR_RETURN(facts.shares_host_memory, attribute_of(api, device, kIsIntegrated));
  SCOPEVM_ASSIGN_OR_RETURN(const int major, attribute_of(api, device, kCapabilityMajor));
  SCOPEVM_ASSIGN_OR_RETURN(const int minor, attribute_of(api, device, kCapabilityMinor));
  facts.compute_capability = std::to_string(major) + "." + std::to_string(minor);
  return facts;
}

// Formats a CUDA version: 12040 -> "12.4".
std::string version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

}  // namespace

Result<std::vector<CudaDeviceFacts>> list_devices(const Api& api) {
  const int error = api.cuInit(0);
  int version = 0, count = 0;
  // cuInit fails with CUDA_ERROR_NO_DEVICE on a machine with the driver but without a GPU.
  if (error != kNoDevice) {
    SCOPEVM_RETURN_IF_ERROR(check(api, error, "cuInit"));
    SCOPEVM_RETURN_IF_ERROR(check(api, api.cuDriverGetVersion(&version), "cuDriverGetVersion"));
    SCOPEVM_RETURN_IF_ERROR(check(api, api.cuDeviceGetCount(&count), "cuDeviceGetCount"));
  }
  if (count <= 0)
    return Status(StatusCode::kNotFound, "the driver is installed, but there is no device");
  std::vector<CudaDeviceFacts> all;
  for (int number = 0; number < count; ++number) {
    SCOPEVM_ASSIGN_OR_RETURN(CudaDeviceFacts facts, facts_of(api, number));
    facts.driver_version = version_text(version);
    all.push_back(std::move(facts));
  }
  return all;
}

}  // namespace cuda

Result<std::vector<CudaDeviceFacts>> list_cuda_devices() {
  static const Result<cuda::Api> api = cuda::load();
  if (!api.ok()) return api.status();
  return cuda::list_devices(*api);
}

}  // namespace scopevm::runtime
