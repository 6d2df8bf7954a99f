// Listing of CUDA devices, error messages of a failing driver, and loading of driver libraries.
#include "runtime/cuda/cuda.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>

#include "runtime/device/driver_library.h"
#include "tests/runtime/device/fake_cuda.h"

namespace scopevm::runtime {
namespace {

using scopevm::testing::fake_cuda;
using scopevm::testing::fake_cuda_api;
using scopevm::testing::FakeCuda;
using ::testing::StartsWith;

class Cuda : public ::testing::Test {
 protected:
  ~Cuda() override { fake_cuda() = initial_state_; }

  static Status failure() { return cuda::list_devices(fake_cuda_api()).status(); }

 private:
  const FakeCuda initial_state_ = fake_cuda();
};

TEST_F(Cuda, ListsTheDriversDevices) {
  const auto devices = cuda::list_devices(fake_cuda_api());
  ASSERT_TRUE(devices.ok()) << devices.status().message();
  ASSERT_EQ(devices->size(), 2u);
  const CudaDeviceFacts &first = (*devices)[0], &second = (*devices)[1];
  EXPECT_EQ(first.name, "Quick GPU");
  EXPECT_EQ(first.compute_capability, "9.0");
  EXPECT_EQ(first.driver_version, "12.4");
  EXPECT_EQ(first.memory_bytes, 24'000'000'000);
  EXPECT_EQ(first.multiprocessors, 100);
  EXPECT_FALSE(first.shares_host_memory);
  EXPECT_EQ(second.compute_capability, "8.7");
  EXPECT_EQ(second.driver_version, "12.4");
  EXPECT_EQ(second.memory_bytes, 4'000'000'000);
  EXPECT_EQ(second.multiprocessors, 8);
  EXPECT_TRUE(second.shares_host_memory);
}

TEST_F(Cuda, NamesAreSanitised) {
  fake_cuda().devices[0].name = std::string(1000, 'x');  // the driver truncates it
  const auto devices = cuda::list_devices(fake_cuda_api());
  ASSERT_TRUE(devices.ok());
  EXPECT_EQ((*devices)[0].name, std::string(256, 'x'));
  EXPECT_EQ((*devices)[1].name, "G??ttlich ??");
}

TEST_F(Cuda, ByteCountsAreClamped) {
  fake_cuda().devices[0].bytes = SIZE_MAX;
  EXPECT_EQ((*cuda::list_devices(fake_cuda_api()))[0].memory_bytes, INT64_MAX);
}

TEST_F(Cuda, EveryNoDeviceStatusIsNotFound) {
  fake_cuda().failing_call = "cuInit";
  fake_cuda().error = 100;
  EXPECT_EQ(failure().code(), StatusCode::kNotFound);
  EXPECT_EQ(failure().message(), "the driver is installed, but there is no device");
  fake_cuda().failing_call = "";
  fake_cuda().devices.clear();
  EXPECT_EQ(failure().code(), StatusCode::kNotFound);
  EXPECT_EQ(failure().message(), "the driver is installed, but there is no device");
}

TEST_F(Cuda, FailureOfAnyCallIsReported) {
  for (const char* call : {"cuInit", "cuDriverGetVersion", "cuDeviceGetCount", "cuDeviceGet",
                           "cuDeviceGetName", "cuDeviceTotalMem_v2", "cuDeviceGetAttribute"}) {
    fake_cuda().failing_call = call;
    EXPECT_EQ(failure().code(), StatusCode::kDevice);
    EXPECT_EQ(failure().message(), std::string(call) + ": CUDA_ERROR_UNKNOWN");
  }
}

TEST_F(Cuda, UnnamedErrorsArePrintedAsNumbers) {
  fake_cuda().failing_call = "cuInit";
  fake_cuda().error = 12345;
  EXPECT_EQ(failure().message(), "cuInit: error 12345");
  cuda::Api api = fake_cuda_api();
  api.cuGetErrorName = nullptr;
  fake_cuda().error = 999;
  EXPECT_EQ(cuda::list_devices(api).status().message(), "cuInit: error 999");
}

// Uses the CUDA driver of this machine, if it has one.
TEST(CudaOfThisMachine, IsListedOrReportsTheReason) {
  const auto devices = list_cuda_devices();
  if (!devices.ok()) {
    EXPECT_NE(devices.status().message(), "");
    return;
  }
  EXPECT_FALSE(devices->empty());
  for (const CudaDeviceFacts& device : *devices) {
    EXPECT_NE(device.name, "");
    EXPECT_GT(device.memory_bytes, 0);
    EXPECT_GT(device.multiprocessors, 0);
  }
}

TEST(DriverLibrary, ReportsMissingLibrariesAndFunctions) {
  const auto missing = DriverLibrary::load("libnowhere.so.1");
  EXPECT_EQ(missing.status().code(), StatusCode::kNotFound);
  EXPECT_THAT(std::string(missing.status().message()), StartsWith("libnowhere.so.1: "));
  const auto library = DriverLibrary::load("libm.so.6");
  ASSERT_TRUE(library.ok()) << library.status().message();
  double (*function)(double) = nullptr;
  const Status status = library->find("cosine_of", function);
  EXPECT_EQ(status.code(), StatusCode::kNotFound);
  EXPECT_EQ(status.message(), "libm.so.6 does not define cosine_of");
  ASSERT_TRUE(library->find("cos", function).ok());
  EXPECT_EQ(function(0), 1);
}

}  // namespace
}  // namespace scopevm::runtime
