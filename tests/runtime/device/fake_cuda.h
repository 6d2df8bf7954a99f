// A fake CUDA driver. Its functions are available as a table, and as a library that is loaded
// instead of the real driver (target fake_cuda_driver).
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/cuda/cuda.h"

namespace scopevm::testing {

struct FakeCudaDevice {
  std::string name;
  size_t bytes = 0;
  std::map<int, int> attributes;  // by CUdevice_attribute
};

struct FakeCuda {
  std::vector<FakeCudaDevice> devices;
  int version = 12040;
  // The name of the function that fails, with the error below.
  std::string failing_call;
  int error = 999;
};

// The state that the driver reports; initially two devices. If the environment variable
// FAKE_CUDA_ERROR is set, cuInit initially fails with this error.
FakeCuda& fake_cuda();

runtime::cuda::Api fake_cuda_api();

}  // namespace scopevm::testing
