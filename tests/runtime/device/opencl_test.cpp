// The OpenCL device alone: which devices there are, and what it does when the driver fails.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/opencl/opencl.h"
#include "tests/runtime/device/faulty_api.h"
#include "tests/runtime/device/test_device.h"

namespace scopevm::runtime {
namespace {

using testing::as_image;
using testing::FaultPlan;
using ::testing::HasSubstr;
using testing::kKernelText;
using testing::set_fault_plan;
using testing::TestBlock;

class OpenCl : public ::testing::Test {
 protected:
  void SetUp() override {
    auto devices = list_opencl_devices();
    if (!devices.is_ok()) GTEST_SKIP() << devices.status().message();
    if (devices->empty()) GTEST_SKIP() << "the platforms have no device";
    set_fault_plan({});
    live_before_ = testing::live_driver_objects();
  }
  void TearDown() override { set_fault_plan({}); }

  int64_t leaked() const { return testing::live_driver_objects() - live_before_; }
  static Result<std::shared_ptr<Device>> open() {
    return opencl::open_device(testing::faulty_api(), 0);
  }

 private:
  int64_t live_before_ = 0;
};

// Everything a program does with a device. Ok only when the results are right.
Status use(Device& device) {
  SCOPEVM_ASSIGN_OR_RETURN(auto image, device.load(as_image(kKernelText)));
  const DeviceKernel* kernel = image->find("add_at", 2, 1);
  if (kernel == nullptr) return {StatusCode::kDevice, "no kernel: CL_OUT_OF_RESOURCES"};
  TestBlock in(device, 4), out(device, 8), copy(device, 8);
  if (!in.address() || !out.address() || !copy.address())
    return {StatusCode::kDevice, "no block: CL_OUT_OF_RESOURCES"};
  SCOPEVM_RETURN_IF_ERROR(in.write({1, 2, 3, 4}));
  void* const buffers[] = {in.address(), out.address()};
  const int64_t params[] = {10};
  SCOPEVM_RETURN_IF_ERROR(device.launch({kernel, buffers, params, 4, 1, 2}));
  SCOPEVM_RETURN_IF_ERROR(device.copy_within(copy.address(), out.address(), out.bytes()));
  SCOPEVM_RETURN_IF_ERROR(device.finish());
  SCOPEVM_ASSIGN_OR_RETURN(const std::vector<int32_t> result, copy.read());
  if (result != std::vector<int32_t>{11, 12, 13, 14, 0, 0, 1, 1})
    return {StatusCode::kInternal, "wrong result"};
  return {};
}

TEST_F(OpenCl, ListsTheDevices) {
  const auto devices = *list_opencl_devices();
  for (const OpenClDeviceFacts& device : devices) {
    EXPECT_NE(device.name, "");
    EXPECT_NE(device.platform, "");
    EXPECT_NE(device.driver_version, "");
    EXPECT_GT(device.memory_bytes, 0);
    EXPECT_GT(device.largest_block_bytes, 0);
    EXPECT_GT(device.compute_units, 0);
    EXPECT_GE(device.base_alignment_bytes, 64);
  }
}

TEST_F(OpenCl, NamesTheDevicesWhenThereIsNoSuchNumber) {
  const std::string first = list_opencl_devices()->front().name;
  for (const int number : {-1, 1000}) {
    const Status status = open_opencl_device(number).status();
    EXPECT_EQ(status.code(), StatusCode::kNotFound);
    EXPECT_THAT(std::string(status.message()),
                HasSubstr("no OpenCL device " + std::to_string(number)));
    EXPECT_THAT(std::string(status.message()), HasSubstr("0: " + first));
  }
}

TEST_F(OpenCl, SaysThatThereIsNoPlatform) {
  set_fault_plan({.failing_call = 0, .only = "clGetPlatformIDs", .error = -1001});
  const Status status = open().status();
  EXPECT_EQ(status.code(), StatusCode::kNotFound);
  EXPECT_THAT(std::string(status.message()), HasSubstr("no OpenCL platform"));
}

TEST_F(OpenCl, KeepsNoObject) {
  {
    auto device = *open();
    EXPECT_GT(leaked(), 0);
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(use(*device).is_ok());
  }
  EXPECT_EQ(leaked(), 0);
}

// One call after the other fails, from the first that opening makes to the last of a program: an
// error says so, nothing is left behind, and the same device works afterwards.
TEST_F(OpenCl, AnyCallMayFail) {
  for (int64_t call = 0;; ++call) {
    ASSERT_LT(call, 500);
    set_fault_plan({.failing_call = call, .only = "", .error = CL_OUT_OF_RESOURCES});
    {
      auto device = open();
      Status status = device.is_ok() ? use(**device) : device.status();
      if (!testing::fault_has_struck()) {
        EXPECT_TRUE(status.is_ok()) << status.message();
        break;
      }
      if (!status.is_ok()) {
        EXPECT_EQ(status.code(), StatusCode::kDevice);
        EXPECT_THAT(std::string(status.message()), HasSubstr("CL_OUT_OF_RESOURCES"));
      }
      if (device.is_ok()) {
        status = use(**device);
        EXPECT_TRUE(status.is_ok()) << call << ": " << status.message();
      }
    }
    EXPECT_EQ(leaked(), 0) << "after call " << call;
  }
}

TEST_F(OpenCl, ACopyFindsTheDeviceLost) {
  auto device = *open();
  TestBlock block(*device, 4);
  set_fault_plan(
      {.failing_call = 0, .only = "clEnqueueWriteBuffer", .error = CL_DEVICE_NOT_AVAILABLE});
  const Status status = block.write({1, 2, 3, 4});
  EXPECT_EQ(status.code(), StatusCode::kDevice);
  EXPECT_EQ(status.message(), "clEnqueueWriteBuffer: CL_DEVICE_NOT_AVAILABLE");
  EXPECT_TRUE(use(*device).is_ok());
}

TEST_F(OpenCl, OutOfMemoryIsNoBlock) {
  auto device = *open();
  set_fault_plan(
      {.failing_call = 0, .only = "clCreateBuffer", .error = CL_MEM_OBJECT_ALLOCATION_FAILURE});
  EXPECT_EQ(device->allocate(100), nullptr);
  EXPECT_TRUE(use(*device).is_ok());
}

TEST_F(OpenCl, AFailedLaunchIsToldByItsName) {
  auto device = *open();
  auto image = *device->load(as_image(kKernelText));
  const DeviceKernel* kernel = image->find("add_at", 2, 1);
  TestBlock in(*device, 4), out(*device, 8);
  void* const buffers[] = {in.address(), out.address()};
  const int64_t params[] = {10};
  ASSERT_TRUE(device->launch({kernel, buffers, params, 4, 1, 2}).is_ok());
  set_fault_plan({.failing_call = -1, .only = "", .error = 0, .event_status = CL_OUT_OF_RESOURCES});
  const Status status = device->finish();
  EXPECT_EQ(status.code(), StatusCode::kDevice);
  EXPECT_EQ(status.message(), "kernel add_at: its launch: CL_OUT_OF_RESOURCES");
  set_fault_plan({});
  EXPECT_TRUE(device->finish().is_ok());
  EXPECT_TRUE(use(*device).is_ok());
}

}  // namespace
}  // namespace scopevm::runtime
