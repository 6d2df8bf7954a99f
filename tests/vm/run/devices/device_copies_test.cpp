// Tests of asynchronous copies. They count the driver's waits, which shows the instructions that
// wait for copies, and check the copied bytes. Also tests the alignment of device pools, and pinned
// pools. The modules are written in assembly.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <vector>

#include "runtime/memory/policies/arena_allocator.h"
#include "scopevm/allocators.h"
#include "tests/vm/modules/test_modules.h"
#include "tests/vm/run/faulty_session.h"
#include "vm/format/assembly/assembler.h"

namespace scopevm {
namespace {

using testing::driver_calls;
using testing::set_fault_plan;

// Large enough that a copy takes measurable time.
constexpr int64_t kElements = 1 << 20;
const std::string kBytes = std::to_string(kElements * 4);
const std::string kDims = "[\"" + std::to_string(kElements) + "\"]";

// Assembly that allocates storage %r<s> in the pool and tensor %r<t> in this storage.
std::string tensor(int s, int t, const std::string& pool) {
  const std::string storage = "%r" + std::to_string(s), made = "%r" + std::to_string(t);
  return storage + " = alloc_storage " + pool + " size=s0\n" + made + " = alloc_tensor " + storage +
         " offset=0 bytes=s0 f32 [s1]\n";
}

std::string copy(int to, const std::string& to_pool, int from, const std::string& from_pool) {
  return "device_copy to=%r" + std::to_string(to) + " to_pool=" + to_pool + " from=%r" +
         std::to_string(from) + " from_pool=" + from_pool + "\n";
}

const std::string kHost = "@global", kOther = "@global.workspace", kDevice = "#2", kSecond = "#3";

// The assembly of a module with main(x) -> y and the given code. Slot s0 is the number of bytes of
// x, slot s1 the number of its elements.
std::string copying_module(const std::string& code) {
  return "scopevm_module 0.15 producer \"test\"\n"
         "device \"cpu\" kind \"cpu\"\n"
         "device \"dev\" kind \"opencl\" workers 2\n"
         "pool \"global\" heap device 0 limit -1\n"
         "pool \"global.workspace\" arena device 0 limit -1\n"
         "pool \"global\" heap device 1 limit -1\n"
         "pool \"global.workspace\" arena device 1 limit -1\n"
         "function \"main\" registers 9 slots 2 {\n"
         "input \"x\" f32 " +
         kDims + "\noutput \"y\" f32 " + kDims +
         "\ncode {\n"
         "set_slot dst=s0 value=" +
         kBytes + "\nset_slot dst=s1 value=" + std::to_string(kElements) + "\n" + code + "}\n}\n";
}

// Runs the code once and returns the number of waits, or -1 after an error or if y differs from x.
// `device_bytes` is the memory size that the device reports.
int64_t waits_of(const std::string& code, int64_t device_bytes = int64_t{1} << 30) {
  Result<format::ModuleContents> contents = format::assemble(copying_module(code), "test.sva");
  EXPECT_TRUE(contents.ok()) << contents.status().message();
  if (!contents.ok()) return -1;
  const Module module = test::load(*std::move(contents));
  set_fault_plan({.shares_host_memory = false, .memory_bytes = device_bytes});
  const Result<Session> session = testing::make_faulty_session(module);
  EXPECT_TRUE(session.ok()) << session.status().message();
  if (!session.ok()) return -1;
  const int64_t dims[] = {kElements};
  Tensor x = *Tensor::allocate(DType::kF32, dims);
  std::iota(x.elements<float>().begin(), x.elements<float>().end(), 1.0f);
  set_fault_plan({});
  const Result<std::vector<Tensor>> results = session->call(std::vector{x});
  const int64_t waits = driver_calls("clWaitForEvents") + driver_calls("clFinish");
  EXPECT_TRUE(results.ok()) << results.status().message();
  if (!results.ok()) return -1;
  for (const ScopeStats& scope : *session->memory_stats())
    EXPECT_EQ(scope.memory.live_bytes,
              scope.scope == "global" && scope.device == "cpu" ? kElements * 4 : 0);
  const auto y = (*results)[0].elements<float>();
  return std::equal(y.begin(), y.end(), x.elements<float>().begin()) ? waits : -1;
}

class DeviceCopies : public ::testing::Test {
 protected:
  void SetUp() override {
    auto devices = runtime::list_opencl_devices();
    if (!devices.ok()) GTEST_SKIP() << devices.status().message();
  }
  void TearDown() override { set_fault_plan({}); }

  // Copies x to tensor %r2 in host storage %r1, and starts a copy of %r2 to tensor %r4 in device
  // storage %r3.
  const std::string copy_to_device_ = tensor(1, 2, kOther) + copy(2, kOther, 0, kHost) +
                                      tensor(3, 4, kDevice) + copy(4, kDevice, 2, kOther);
  // Starts a copy of %r4 to tensor %r6 in host storage %r5.
  const std::string result_ = tensor(5, 6, kHost) + copy(6, kHost, 4, kDevice);
};

// A device pool cannot have a larger alignment than that of the driver's blocks.
TEST_F(DeviceCopies, UnsupportedAlignmentFailsSessionCreation) {
  const auto device = *testing::open_faulty("opencl", 0);
  for (const int64_t alignment : {64, 128, 256, 512, 1024, 2048, 4096}) {
    format::ModuleContents contents =
        *format::assemble(copying_module(copy_to_device_ + result_ + "ret (%r6)\n"), "test.sva");
    contents.pools[3].alignment = static_cast<uint32_t>(alignment);
    const Result<Session> session = testing::make_faulty_session(test::load(contents));
    EXPECT_EQ(session.ok(), alignment <= device->block_alignment()) << alignment;
    if (session.ok()) continue;
    EXPECT_EQ(session.status().code(), StatusCode::kUnsupported);
    EXPECT_THAT(std::string(session.status().message()),
                ::testing::HasSubstr("dev.global.workspace requires an alignment of " +
                                     std::to_string(alignment) + " bytes, but "));
  }
}

// The device's driver allocates the blocks of a pinned pool, here with an alignment of 4096 bytes.
// A block is mapped once, until it is released. An embedder's allocator can replace the driver.
TEST_F(DeviceCopies, PinnedMemoryComesFromTheDriver) {
  format::ModuleContents contents =
      *format::assemble(copying_module(copy_to_device_ + result_ + "ret (%r6)\n"), "test.sva");
  contents.pools[1].pinned_for = 1;
  contents.pools[1].alignment = 4096;
  const Module module = test::load(contents);
  const int64_t dims[] = {kElements};
  const std::vector<Tensor> x = {*Tensor::allocate(DType::kF32, dims)};
  for (const bool is_embedders : {false, true}) {
    set_fault_plan({.shares_host_memory = false});
    SessionOptions options;
    if (is_embedders)
      options.allocators = {{"global.workspace", std::make_shared<runtime::ArenaAllocator>(4096)}};
    const auto before = testing::live_driver_objects();
    {
      const auto bound =
          vm::BoundSession::create(ModuleAccess::loaded(module), options, testing::open_faulty);
      ASSERT_TRUE(bound.ok()) << bound.status().message();
      const Session session = SessionAccess::make(*bound);
      for (int call = 0; call < 3; ++call) {
        set_fault_plan({});
        const Result<std::vector<Tensor>> results = session.call(x);
        ASSERT_TRUE(results.ok()) << results.status().message();
        EXPECT_EQ(driver_calls("clEnqueueMapBuffer"), call == 0 && !is_embedders ? 1 : 0);
      }
      session.trim();
      EXPECT_EQ(driver_calls("clEnqueueUnmapMemObject"), is_embedders ? 0 : 1);
    }
    EXPECT_EQ(testing::live_driver_objects(), before);
  }
}

// A pool divides blocks of the driver, with metadata in host memory.
TEST_F(DeviceCopies, PoolOfTheDevicesMemory) {
  const Module module = test::load(
      *format::assemble(copying_module(copy_to_device_ + result_ + "ret (%r6)\n"), "test.sva"));
  const int64_t dims[] = {kElements};
  Tensor x = *Tensor::allocate(DType::kF32, dims);
  std::iota(x.elements<float>().begin(), x.elements<float>().end(), 1.0f);
  std::shared_ptr<Allocator> pool;
  SessionOptions options;
  options.allocators = {
      {"dev.global", nullptr, [&](std::shared_ptr<BlockSource> source, int64_t alignment) {
         auto made = make_allocator_from_text("pool:chunk=16MiB",
                                              {.alignment = alignment, .source = source});
         pool = *made;
         return made;
       }}};
  set_fault_plan({});
  const auto before = testing::live_driver_objects();
  {
    const auto bound =
        vm::BoundSession::create(ModuleAccess::loaded(module), options, testing::open_faulty);
    ASSERT_TRUE(bound.ok()) << bound.status().message();
    const Session session = SessionAccess::make(*bound);
    // Other blocks of the pool precede the blocks of the calls.
    void* const small = pool->allocate(100);
    void* const large = pool->allocate(100000);
    for (int call = 0; call < 3; ++call) {
      const Result<std::vector<Tensor>> results = session.call(std::vector{x});
      ASSERT_TRUE(results.ok()) << results.status().message();
      const auto y = (*results)[0].elements<float>();
      EXPECT_TRUE(std::equal(y.begin(), y.end(), x.elements<float>().begin()));
    }
    EXPECT_EQ(pool->stats().allocations, 5);
    EXPECT_EQ(pool->stats().upstream_calls, 2) << "one block for slabs, one for large blocks";
    pool->deallocate(small, 100);
    pool->deallocate(large, 100000);
    session.trim();
    EXPECT_EQ(pool->stats().reserved_bytes, 0);
    pool = nullptr;
  }
  EXPECT_EQ(testing::live_driver_objects(), before);
}

TEST_F(DeviceCopies, ReturnWaitsForAllCopies) {
  EXPECT_EQ(waits_of(copy_to_device_ + result_ + "ret (%r6)\n"), 1);
}

TEST_F(DeviceCopies, CopiesOfOneDeviceAreOrdered) {
  EXPECT_EQ(waits_of(copy_to_device_ + result_ + tensor(7, 8, kDevice) +
                     copy(8, kDevice, 6, kHost) + copy(6, kHost, 8, kDevice) + "ret (%r6)\n"),
            1);
}

TEST_F(DeviceCopies, HostCopyWaits) {
  EXPECT_EQ(waits_of(copy_to_device_ + copy(2, kOther, 0, kHost) + result_ + "ret (%r6)\n"), 2);
}

// The second copy to the result is pending at the end, so that the return waits too.
TEST_F(DeviceCopies, ElementReadWaits) {
  EXPECT_EQ(waits_of(copy_to_device_ + result_ +
                     "%r8 = alloc_view %r6 i32 [s1]\nload_element dst=s1 %r8 index=0\n" +
                     copy(6, kHost, 4, kDevice) + "ret (%r6)\n"),
            2);
}

// The release of a host storage without references waits for the copies that use it. The call waits
// only if it allocates from the same pool in the meantime.
TEST_F(DeviceCopies, ReleasesOfHostStoragesAreDeferred) {
  const std::string kill = "kill %r1\nkill %r2\n";
  EXPECT_EQ(waits_of(copy_to_device_ + kill + result_ + "ret (%r6)\n"), 1);
  EXPECT_EQ(waits_of(copy_to_device_ + kill + tensor(7, 8, kDevice) + result_ + "ret (%r6)\n"), 1);
  EXPECT_EQ(waits_of(copy_to_device_ + kill + tensor(7, 8, kOther) + result_ + "ret (%r6)\n"), 2);
  EXPECT_EQ(
      waits_of(copy_to_device_ + "kill %r1\n" + tensor(7, 8, kOther) + result_ + "ret (%r6)\n"), 1)
      << "%r2 refers to the storage";
}

TEST_F(DeviceCopies, OverwritingARegisterDefersTheRelease) {
  const std::string overwritten = copy_to_device_ + "kill %r1\n%r2 = alloc_view %r0 f32 [s1]\n";
  EXPECT_EQ(waits_of(overwritten + result_ + "ret (%r6)\n"), 1);
  EXPECT_EQ(waits_of(overwritten + tensor(7, 8, kOther) + result_ + "ret (%r6)\n"), 2);
}

TEST_F(DeviceCopies, DeviceStorageIsReleasedImmediately) {
  EXPECT_EQ(waits_of(copy_to_device_ + result_ + "kill %r3\nkill %r4\nret (%r6)\n"), 1);
}

// The device's memory has room for 1.5 times x, so a pool must return its cached blocks before
// another pool can allocate.
TEST_F(DeviceCopies, PoolsOfADeviceShareItsMemory) {
  const std::string there_and_back = copy_to_device_ + result_ + "kill %r3\nkill %r4\n" +
                                     tensor(3, 4, kSecond) + copy(4, kSecond, 6, kHost) +
                                     copy(6, kHost, 4, kSecond) + "ret (%r6)\n";
  EXPECT_EQ(waits_of(there_and_back, kElements * 6), 1);
}

}  // namespace
}  // namespace scopevm
