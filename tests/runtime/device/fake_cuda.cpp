// Implements fake_cuda.h. The functions follow CUDA's contract; device handles differ from device
// numbers.
#include "tests/runtime/device/fake_cuda.h"

#include <cstdlib>
#include <cstring>

namespace scopevm::testing {
namespace {

constexpr int kSuccess = 0;
constexpr int kInvalidValue = 1;
constexpr int kNotInitialized = 3;
constexpr int kInvalidDevice = 101;
constexpr int kFirstHandle = 500;

bool is_initialised = false;

FakeCuda initial_state() {
  FakeCuda driver;
  // The attributes are the number of multiprocessors (16), whether the GPU is integrated (18) and
  // the compute capability (75, 76).
  driver.devices = {
      {"Quick GPU", 24'000'000'000, {{16, 100}, {18, 0}, {75, 9}, {76, 0}}},
      {"G\xc3\xb6ttlich \xff\n", 4'000'000'000, {{16, 8}, {18, 1}, {75, 8}, {76, 7}}}};
  if (const char* error = std::getenv("FAKE_CUDA_ERROR")) {
    driver.failing_call = "cuInit";
    driver.error = std::atoi(error);
  }
  return driver;
}

int answer(const char* call) {
  if (fake_cuda().failing_call == call) return fake_cuda().error;
  return is_initialised || std::string_view(call) == "cuDriverGetVersion" ? kSuccess
                                                                          : kNotInitialized;
}

// Null if there is no such device.
const FakeCudaDevice* device_of(int handle) {
  const size_t number = static_cast<size_t>(handle - kFirstHandle);
  return number < fake_cuda().devices.size() ? &fake_cuda().devices[number] : nullptr;
}

}  // namespace

FakeCuda& fake_cuda() {
  static FakeCuda driver = initial_state();
  return driver;
}

}  // namespace scopevm::testing

using namespace scopevm::testing;

#define FAKE_CUDA(name) extern "C" __attribute__((visibility("default"))) int name

FAKE_CUDA(cuInit)(unsigned flags) {
  is_initialised = flags == 0;
  return answer("cuInit");
}

FAKE_CUDA(cuDriverGetVersion)(int* version) {
  *version = fake_cuda().version;
  return answer("cuDriverGetVersion");
}

FAKE_CUDA(cuDeviceGetCount)(int* count) {
  *count = static_cast<int>(fake_cuda().devices.size());
  return answer("cuDeviceGetCount");
}

FAKE_CUDA(cuDeviceGet)(int* device, int number) {
  *device = kFirstHandle + number;
  return device_of(*device) ? answer("cuDeviceGet") : kInvalidDevice;
}

// Truncates a name that is too long, without a terminating zero.
FAKE_CUDA(cuDeviceGetName)(char* name, int size, int device) {
  const FakeCudaDevice* known = device_of(device);
  if (!known) return kInvalidDevice;
  std::strncpy(name, known->name.c_str(), static_cast<size_t>(size));
  return answer("cuDeviceGetName");
}

FAKE_CUDA(cuDeviceTotalMem_v2)(size_t* bytes, int device) {
  const FakeCudaDevice* known = device_of(device);
  if (!known) return kInvalidDevice;
  *bytes = known->bytes;
  return answer("cuDeviceTotalMem_v2");
}

FAKE_CUDA(cuDeviceGetAttribute)(int* value, int attribute, int device) {
  const FakeCudaDevice* known = device_of(device);
  if (!known) return kInvalidDevice;
  const auto found = known->attributes.find(attribute);
  if (found == known->attributes.end()) return kInvalidValue;
  *value = found->second;
  return answer("cuDeviceGetAttribute");
}

FAKE_CUDA(cuGetErrorName)(int error, const char** name) {
  *name = error == 999 ? "CUDA_ERROR_UNKNOWN" : nullptr;
  return *name ? kSuccess : kInvalidValue;
}

scopevm::runtime::cuda::Api scopevm::testing::fake_cuda_api() {
  return {cuInit,          cuDriverGetVersion,  cuDeviceGetCount,     cuDeviceGet,
          cuDeviceGetName, cuDeviceTotalMem_v2, cuDeviceGetAttribute, cuGetErrorName};
}
