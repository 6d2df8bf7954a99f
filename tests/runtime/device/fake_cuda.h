// A CUDA driver of the tests' own. Its functions are a table here, and a library that is loaded in
// place of the real one (target fake_cuda_driver).
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
  // This call fails with this error.
  std::string failing_call;
  int error = 999;
};

// What the driver says. At first two devices; as a library, cuInit fails with the error in the
// environment's FAKE_CUDA_ERROR, where that is set.
FakeCuda& fake_cuda();

runtime::cuda::Api fake_cuda_api();

}  // namespace scopevm::testing
