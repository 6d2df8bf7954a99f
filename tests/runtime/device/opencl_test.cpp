// The OpenCL implementation: device listing, and behaviour when the driver fails.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "runtime/opencl/opencl.h"
#include "tests/runtime/device/faulty_api.h"
#include "tests/runtime/device/test_device.h"

namespace scopevm::runtime {
namespace {

using ::testing::AnyOf;
using testing::as_image;
using testing::FaultPlan;
using ::testing::HasSubstr;
using testing::kKernelText;
using testing::set_fault_plan;
using testing::TestBlock;
using testing::TestHostBlock;

class OpenCl : public ::testing::Test {
 protected:
  void SetUp() override {
    auto devices = list_opencl_devices();
    if (!devices.ok()) GTEST_SKIP() << devices.status().message();
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

// Launches kernel add_at for four items and two workers: out := in + 10, and the index of each
// item's worker.
Status add(DeviceStream& stream, const DeviceKernel* kernel, const TestBlock& in,
           const TestBlock& out) {
  void* const buffers[] = {in.address(), out.address()};
  const int64_t params[] = {10};
  return stream.launch({kernel, buffers, params, 4, 1, 2});
}

// The smallest element count of a copy that is mapped if the device shares the host's memory.
constexpr int64_t kLarge = 1 << 20;

// Uses every operation of a device, with small and large copies. Returns ok only if the results are
// correct. Then `failed`, if not null, is the driver function that had failed before the results
// were complete. Later calls release the blocks.
Status use(Device& device, std::string_view* failed = nullptr) {
  SCOPEVM_ASSIGN_OR_RETURN(auto image, device.load(as_image(kKernelText)));
  const DeviceKernel* kernel = image->find("add_at", 2, 1);
  if (kernel == nullptr) return {StatusCode::kDevice, "no kernel: CL_OUT_OF_RESOURCES"};
  TestBlock in(device, kLarge), out(device, 8), copy(device, 8);
  const TestHostBlock host(device, 8);
  if (!in.address() || !out.address() || !copy.address() || !host.address())
    return {StatusCode::kDevice, "no block: CL_OUT_OF_RESOURCES"};
  std::vector<int32_t> values(kLarge);
  std::iota(values.begin(), values.end(), 1);
  SCOPEVM_RETURN_IF_ERROR(in.write(values));
  const auto stream = device.make_stream();
  SCOPEVM_RETURN_IF_ERROR(add(*stream, kernel, in, out));
  SCOPEVM_RETURN_IF_ERROR(stream->copy_within(copy.address(), out.address(), out.bytes()));
  SCOPEVM_RETURN_IF_ERROR(stream->finish());
  SCOPEVM_RETURN_IF_ERROR(stream->copy_out(host.address(), copy.address(), host.bytes()));
  SCOPEVM_RETURN_IF_ERROR(stream->settle());
  const std::vector<int32_t> result(host.numbers().begin(), host.numbers().end());
  SCOPEVM_ASSIGN_OR_RETURN(const std::vector<int32_t> kept, in.read());
  if (result != std::vector<int32_t>{11, 12, 13, 14, 0, 0, 1, 1} || kept != values)
    return {StatusCode::kInternal, "wrong result"};
  if (failed != nullptr) *failed = testing::failed_function();
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

TEST_F(OpenCl, UnknownOrdinalErrorListsTheDevices) {
  const std::string first = list_opencl_devices()->front().name;
  for (const int number : {-1, 1000}) {
    const Status status = open_opencl_device(number).status();
    EXPECT_EQ(status.code(), StatusCode::kNotFound);
    EXPECT_THAT(std::string(status.message()),
                HasSubstr("no OpenCL device " + std::to_string(number)));
    EXPECT_THAT(std::string(status.message()), HasSubstr("0: " + first));
  }
}

TEST_F(OpenCl, ReportsAMissingPlatform) {
  set_fault_plan({.failing_call = 0, .only = "clGetPlatformIDs", .error = -1001});
  const Status status = open().status();
  EXPECT_EQ(status.code(), StatusCode::kNotFound);
  EXPECT_THAT(std::string(status.message()), HasSubstr("no OpenCL platform"));
}

TEST_F(OpenCl, ReleasesEveryObject) {
  {
    auto device = *open();
    EXPECT_GT(leaked(), 0);
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(use(*device).ok());
  }
  EXPECT_EQ(leaked(), 0);
}

// Each driver call fails once, from the first call of open() to the last call of use(). The error
// is reported, except for queries that have a default and for the release of blocks. Nothing is
// leaked, and the same device works afterwards.
TEST_F(OpenCl, FailureOfAnyCallIsReported) {
  for (const bool shares_host_memory : {true, false})
    for (int64_t call = 0;; ++call) {
      ASSERT_LT(call, 500);
      const FaultPlan none{.shares_host_memory = shares_host_memory};
      FaultPlan plan = none;
      plan.failing_call = call;
      set_fault_plan(plan);
      {
        auto device = open();
        std::string_view failed;
        Status status = device.ok() ? use(**device, &failed) : device.status();
        if (!testing::fault_has_struck()) {
          EXPECT_TRUE(status.ok()) << status.message();
          break;
        }
        if (status.ok()) {
          EXPECT_THAT(failed, AnyOf("", "clGetPlatformInfo", "clGetDeviceInfo")) << "call " << call;
        } else {
          EXPECT_EQ(status.code(), StatusCode::kDevice) << "call " << call;
          EXPECT_THAT(std::string(status.message()), HasSubstr("CL_OUT_OF_RESOURCES"));
        }
        set_fault_plan(none);
        if (device.ok()) {
          status = use(**device);
          EXPECT_TRUE(status.ok()) << call << ": " << status.message();
        }
      }
      EXPECT_EQ(leaked(), 0) << "after call " << call;
    }
}

// All driver calls fail from a given call on. A lost device reports its loss in every later
// operation, nothing is leaked, and a device that is opened afterwards works.
TEST_F(OpenCl, DeviceLossAtAnyCallIsReported) {
  int losses = 0;
  for (const bool shares_host_memory : {true, false})
    for (int64_t call = 0;; ++call) {
      ASSERT_LT(call, 500);
      set_fault_plan({.failing_call = call,
                      .error = CL_DEVICE_NOT_AVAILABLE,
                      .for_good = true,
                      .shares_host_memory = shares_host_memory});
      {
        auto device = open();
        const Status status = device.ok() ? use(**device) : device.status();
        if (!testing::fault_has_struck()) break;
        if (device.ok() && (*device)->health().ok()) EXPECT_FALSE(status.ok()) << "call " << call;
        if (device.ok() && !(*device)->health().ok()) {
          ++losses;
          EXPECT_THAT(std::string((*device)->health().message()),
                      HasSubstr("the device is lost: cl"));
          EXPECT_EQ((*device)->allocate(100), nullptr);
          EXPECT_EQ((*device)->allocate_host(100, 64), nullptr);
          EXPECT_EQ(use(**device).code(), StatusCode::kDevice);
          set_fault_plan({});
          EXPECT_EQ(use(**device).message(), (*device)->health().message());
        }
      }
      EXPECT_EQ(leaked(), 0) << "after call " << call;
      set_fault_plan({});
      EXPECT_TRUE(use(**open()).ok());
    }
  EXPECT_GT(losses, 20);
}

TEST_F(OpenCl, CopyDetectsDeviceLoss) {
  set_fault_plan({.shares_host_memory = false});
  auto device = *open();
  TestBlock block(*device, 4);
  set_fault_plan(
      {.failing_call = 0, .only = "clEnqueueWriteBuffer", .error = CL_DEVICE_NOT_AVAILABLE});
  const Status status = block.write({1, 2, 3, 4});
  EXPECT_EQ(status.code(), StatusCode::kDevice);
  EXPECT_EQ(status.message(), "the device is lost: clEnqueueWriteBuffer: CL_DEVICE_NOT_AVAILABLE");
  EXPECT_EQ(block.write({1, 2, 3, 4}).message(), status.message());
  EXPECT_EQ(device->health().message(), status.message());
}

TEST_F(OpenCl, OutOfMemoryReturnsNoBlock) {
  auto device = *open();
  set_fault_plan(
      {.failing_call = 0, .only = "clCreateBuffer", .error = CL_MEM_OBJECT_ALLOCATION_FAILURE});
  EXPECT_EQ(device->allocate(100), nullptr);
  EXPECT_TRUE(use(*device).ok());
}

TEST_F(OpenCl, FailedLaunchIsReportedByName) {
  auto device = *open();
  auto image = *device->load(as_image(kKernelText));
  const DeviceKernel* kernel = image->find("add_at", 2, 1);
  const auto stream = device->make_stream();
  TestBlock in(*device, 4), out(*device, 8);
  ASSERT_TRUE(add(*stream, kernel, in, out).ok());
  set_fault_plan({.event_status = CL_OUT_OF_RESOURCES});
  const Status status = stream->finish();
  EXPECT_EQ(status.code(), StatusCode::kDevice);
  EXPECT_EQ(status.message(), "kernel add_at: launch: CL_OUT_OF_RESOURCES");
  set_fault_plan({});
  EXPECT_TRUE(stream->finish().ok());
  EXPECT_TRUE(use(*device).ok());
}

// finish() waits for the launch before it reports the failure of the copy, because the launch may
// still use the device's blocks.
TEST_F(OpenCl, FinishWaitsForALaunchAfterAFailedCopy) {
  set_fault_plan({.shares_host_memory = false});
  auto device = *open();
  auto image = *device->load(as_image(kKernelText));
  const DeviceKernel* kernel = image->find("add_at", 2, 1);
  const auto stream = device->make_stream();
  TestBlock in(*device, kLarge), out(*device, 8);
  const std::vector<int32_t> values(kLarge);
  ASSERT_TRUE(stream->copy_in(in.address(), values.data(), in.bytes()).ok());
  ASSERT_TRUE(add(*stream, kernel, in, out).ok());
  set_fault_plan({.event_status = CL_OUT_OF_RESOURCES, .shares_host_memory = false});
  EXPECT_EQ(stream->finish().message(), "copy: CL_OUT_OF_RESOURCES");
  EXPECT_EQ(testing::driver_calls("clFinish"), 1);
}

// More launches follow the failing launch than a stream tracks at a time.
TEST_F(OpenCl, FailureIsReportedAfterManyLaunches) {
  auto device = *open();
  auto image = *device->load(as_image(kKernelText));
  const DeviceKernel* kernel = image->find("add_at", 2, 1);
  const auto stream = device->make_stream();
  TestBlock in(*device, 4), out(*device, 8);
  set_fault_plan({.event_status = CL_OUT_OF_RESOURCES, .failing_launch = 3});
  for (int i = 0; i < 300; ++i) ASSERT_TRUE(add(*stream, kernel, in, out).ok());
  EXPECT_EQ(stream->finish().message(), "kernel add_at: launch: CL_OUT_OF_RESOURCES");
  EXPECT_TRUE(stream->finish().ok());
}

// Two streams launch alternately and one launch fails: only its stream reports the failure.
TEST_F(OpenCl, FailureIsReportedToItsStream) {
  auto device = *open();
  auto image = *device->load(as_image(kKernelText));
  const DeviceKernel* kernel = image->find("add_at", 2, 1);
  const auto first = device->make_stream(), second = device->make_stream();
  TestBlock in(*device, 4), out(*device, 8), other(*device, 8);
  set_fault_plan({.event_status = CL_OUT_OF_RESOURCES, .failing_launch = 2});
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(add(*first, kernel, in, out).ok());
    ASSERT_TRUE(add(*second, kernel, in, other).ok());
  }
  EXPECT_TRUE(second->finish().ok());
  EXPECT_EQ(first->finish().message(), "kernel add_at: launch: CL_OUT_OF_RESOURCES");
  EXPECT_TRUE(first->finish().ok());
}

// Large regions of shared memory are mapped without driver copies. Other copies are enqueued
// asynchronously, followed by a single wait.
TEST_F(OpenCl, CopiesMapOrWaitOnce) {
  for (const auto [shares_host_memory, count] :
       {std::pair(true, kLarge), std::pair(true, kLarge - 1), std::pair(false, kLarge)}) {
    set_fault_plan({.shares_host_memory = shares_host_memory});
    auto device = *open();
    const auto stream = device->make_stream();
    TestBlock block(*device, count);
    std::vector<int32_t> in(static_cast<size_t>(count), 7), out(in.size());
    set_fault_plan({});
    for (int i = 0; i < 5; ++i) {
      ASSERT_TRUE(stream->copy_in(block.address(), in.data(), block.bytes()).ok());
      ASSERT_TRUE(stream->copy_out(out.data(), block.address(), block.bytes()).ok());
    }
    ASSERT_TRUE(stream->settle().ok());
    EXPECT_EQ(out, in);
    const bool maps = shares_host_memory && count >= kLarge;
    const int64_t mapped = maps ? 10 : 0, copied = maps ? 0 : 5;
    EXPECT_EQ(testing::driver_calls("clEnqueueMapBuffer"), mapped);
    EXPECT_EQ(testing::driver_calls("clEnqueueUnmapMemObject"), mapped);
    EXPECT_EQ(testing::driver_calls("clEnqueueWriteBuffer"), copied);
    EXPECT_EQ(testing::driver_calls("clEnqueueReadBuffer"), copied);
    EXPECT_EQ(testing::driver_calls("clWaitForEvents"), maps ? 0 : 1);
    EXPECT_EQ(testing::driver_calls("clFinish"), 0);
  }
}

}  // namespace
}  // namespace scopevm::runtime
