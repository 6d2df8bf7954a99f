// Driver failures during calls of a compiled module. The failing call reports the device and the
// cause, nothing is leaked, concurrent calls have correct results, and the session remains usable
// unless the device is lost.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <numeric>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "runtime/opencl/opencl.h"
#include "scopevm/compiler.h"
#include "scopevm/session.h"
#include "tests/temporary_file.h"
#include "tests/vm/run/faulty_session.h"

namespace scopevm {
namespace {

using testing::driver_calls;
using testing::FaultPlan;
using ::testing::HasSubstr;
using testing::live_driver_blocks;
using testing::live_driver_objects;
using testing::make_faulty_session;
using testing::set_fault_plan;

// y = (-(x + x) * w) + x. The tests place the negation, "turn", on the host, and the other ops on
// "dev".
constexpr char kGraph[] = R"mlir(
func.func @main(%x: !sv.tensor<f32[n, 64]> {sv.name = "x"}) -> (!sv.tensor<f32[n, 64]> {sv.name = "y"}) {
  %w = sv.constant {value = dense<3.0> : tensor<64xf32>} : !sv.tensor<f32[64]>
  %0 = sv.add %x, %x : (!sv.tensor<f32[n, 64]>, !sv.tensor<f32[n, 64]>) -> !sv.tensor<f32[n, 64]> loc("sum")
  %1 = sv.neg %0 : (!sv.tensor<f32[n, 64]>) -> !sv.tensor<f32[n, 64]> loc("turn")
  %2 = sv.mul %1, %w : (!sv.tensor<f32[n, 64]>, !sv.tensor<f32[64]>) -> !sv.tensor<f32[n, 64]> loc("product")
  %3 = sv.add %2, %x : (!sv.tensor<f32[n, 64]>, !sv.tensor<f32[n, 64]>) -> !sv.tensor<f32[n, 64]> loc("end")
  return %3 : !sv.tensor<f32[n, 64]>
}
)mlir";

// The kinds of memory that copies read and write.
struct Memory {
  const char* name;
  bool is_shared;          // the device reports shared host memory: large copies are mapped
  const char* machine;     // the member "pools" of the machine description, or empty
  const char* first_pool;  // that a call allocates from, with its device
};

const Memory kMemories[] = {
    {"shared", true, "", "dev global"},
    {"apart", false, "", "dev global"},
    {"pinned", false,
     R"(, "pools": [{"device": "cpu", "scope": "global.pinned", "pinned_for": "dev"}])",
     "cpu global.pinned"},
    {"reached", true,
     R"(, "pools": [{"device": "cpu", "scope": "global.fast", "reached_by": ["dev"]}])",
     "cpu global.fast"}};

void PrintTo(const Memory& memory, std::ostream* out) { *out << memory.name; }

Result<Module> compile_graph(const Memory& memory, const std::vector<std::string>& places) {
  const TemporaryFile graph(kGraph);
  CompileOptions options;
  options.model_path = graph.path();
  options.machine_json =
      std::string(
          R"({"devices": [{"name": "cpu", "kind": "cpu"}, {"name": "dev", "kind": "opencl"}])") +
      memory.machine + "}";
  options.places = places;
  SCOPEVM_ASSIGN_OR_RETURN(const CompileOutput output, compile(options));
  return Module::load_bytes(output.module);
}

std::string text(const Status& status) { return std::string(status.message()); }

class DeviceFaults : public ::testing::TestWithParam<Memory> {
 protected:
  void SetUp() override {
    const Result<Module> module = compile_graph(GetParam(), {"*=dev", "turn=cpu"});
    ASSERT_TRUE(module.ok()) << module.status().message();
    module_.emplace(*module);
    auto devices = runtime::list_opencl_devices();
    if (!devices.ok()) GTEST_SKIP() << devices.status().message();
    no_faults();
    objects_before_ = live_driver_objects();
    Result<Session> session = make_faulty_session(*module_);
    ASSERT_TRUE(session.ok()) << session.status().message();
    session_.emplace(*session);
    expect_right(*session_, 3);
    session_->trim();
    idle_blocks_ = live_driver_blocks();
  }
  void TearDown() override {
    session_.reset();
    no_faults();
    if (module_) EXPECT_EQ(live_driver_objects(), objects_before_);
  }

  void no_faults() const { set_fault_plan({.shares_host_memory = GetParam().is_shared}); }

  static Tensor rows(int64_t n) {
    Tensor x = *Tensor::allocate(DType::kF32, {n, 64});
    std::iota(x.elements<float>().begin(), x.elements<float>().end(), 1.0f);
    return x;
  }
  // Calls the session with n rows. With shared memory, adds 16384 rows, so that the copies are
  // large enough to be mapped.
  Result<std::vector<Tensor>> call(const Session& session, int64_t n) const {
    return session.call(std::vector{rows(GetParam().is_shared ? n + 16384 : n)});
  }
  static bool is_right(const Tensor& y) {
    int64_t i = 0;
    for (const float element : y.elements<float>())
      if (element != -5.0f * static_cast<float>(++i)) return false;
    return true;
  }
  void expect_right(const Session& session, int64_t n) const {
    Result<std::vector<Tensor>> results = call(session, n);
    ASSERT_TRUE(results.ok()) << results.status().message();
    EXPECT_TRUE(is_right((*results)[0]));
  }

  // After all calls, the session has no live memory, and the device's caches hold only the blocks
  // of an idle session.
  void expect_nothing_held() {
    for (const ScopeStats& scope : *session_->memory_stats())
      EXPECT_EQ(scope.memory.live_bytes, 0) << scope.device << "." << scope.scope;
    session_->trim();
    EXPECT_EQ(live_driver_blocks(), idle_blocks_);
  }

  // Makes kConcurrentCalls calls on three threads. Returns the number of failed calls, and counts
  // incorrect results in `wrong`.
  int count_failures_of_concurrent_calls(std::atomic<int>& wrong) const {
    std::atomic<int> failed = 0;
    std::vector<std::thread> threads;
    for (const int64_t n : {3, 17, 40})
      threads.emplace_back([&, n] {
        for (int i = 0; i < kConcurrentCalls / 3; ++i) {
          const Result<std::vector<Tensor>> results = call(*session_, n);
          if (!results.ok())
            ++failed;
          else if (!is_right((*results)[0]))
            ++wrong;
        }
      });
    for (std::thread& thread : threads) thread.join();
    return failed;
  }
  static constexpr int kConcurrentCalls = 24;

  std::optional<Module> module_;
  std::optional<Session> session_;
  int64_t objects_before_ = 0;
  testing::DriverBlocks idle_blocks_;
};

TEST_P(DeviceFaults, WithoutAPlatformSessionCreationFails) {
  set_fault_plan({.failing_call = 0, .only = "clGetPlatformIDs", .error = -1001});
  const Status status = make_faulty_session(*module_).status();
  EXPECT_EQ(status.code(), StatusCode::kNotFound);
  EXPECT_THAT(text(status), HasSubstr("device \"dev\": no OpenCL platform"));
  expect_right(*session_, 3);
  no_faults();
  expect_right(*make_faulty_session(*module_), 3);
}

TEST_P(DeviceFaults, SourceThatDoesNotBuildFailsSessionCreation) {
  const Module other = *compile_graph(GetParam(), {"*=dev"});
  const int64_t objects = live_driver_objects();
  set_fault_plan({.failing_call = 0, .only = "clBuildProgram", .error = CL_BUILD_PROGRAM_FAILURE});
  const Status status = make_faulty_session(other).status();
  EXPECT_EQ(status.code(), StatusCode::kInvalidModel);
  EXPECT_THAT(text(status), HasSubstr("device \"dev\": kernels for "));
  EXPECT_THAT(text(status), HasSubstr("the OpenCL driver cannot build the source"));
  EXPECT_EQ(live_driver_objects(), objects);
  expect_right(*session_, 3);
  no_faults();
  expect_right(*make_faulty_session(other), 3);
}

TEST_P(DeviceFaults, TwoSessionsOfAModuleBuildItOnce) {
  set_fault_plan({});
  {
    const Session second = *make_faulty_session(*module_);
    expect_right(second, 3);
    EXPECT_EQ(driver_calls("clBuildProgram"), 0);
    EXPECT_EQ(driver_calls("clCreateContext"), 0);
  }
  session_.reset();
  no_faults();
  session_.emplace(*make_faulty_session(*module_));
  EXPECT_EQ(driver_calls("clBuildProgram"), 1);
  expect_right(*session_, 3);
}

TEST_P(DeviceFaults, OutOfDeviceMemoryFailsTheCall) {
  set_fault_plan({.failing_call = 0,
                  .only = "clCreateBuffer",
                  .error = CL_MEM_OBJECT_ALLOCATION_FAILURE,
                  .for_good = true});
  for (int i = 0; i < 3; ++i) {
    const Status status = call(*session_, 1000).status();
    EXPECT_EQ(status.code(), StatusCode::kOutOfMemory);
    EXPECT_THAT(text(status), HasSubstr(std::string("alloc_storage: ") + GetParam().first_pool));
    EXPECT_THAT(text(status), HasSubstr("requested, the allocator is out of memory"));
  }
  no_faults();
  expect_right(*session_, 1000);
  expect_nothing_held();
}

TEST_P(DeviceFaults, RejectedLaunchFailsTheCall) {
  for (int64_t launch = 0; launch < 2; ++launch) {
    set_fault_plan({.failing_call = launch,
                    .only = "clEnqueueNDRangeKernel",
                    .error = CL_MEM_OBJECT_ALLOCATION_FAILURE});
    const Status status = call(*session_, 50).status();
    EXPECT_EQ(status.code(), StatusCode::kDevice);
    EXPECT_THAT(text(status), HasSubstr("launch: device \"dev\": kernel "));
    EXPECT_THAT(text(status), HasSubstr("CL_MEM_OBJECT_ALLOCATION_FAILURE"));
    expect_right(*session_, 50);
  }
  expect_nothing_held();
}

TEST_P(DeviceFaults, AsynchronousLaunchFailureFailsTheCall) {
  for (int64_t launch = 0; launch < 2; ++launch) {
    set_fault_plan({.event_status = CL_OUT_OF_RESOURCES, .failing_launch = launch});
    const Status status = call(*session_, 50).status();
    EXPECT_EQ(status.code(), StatusCode::kDevice);
    EXPECT_THAT(text(status), HasSubstr("device \"dev\": kernel "));
    EXPECT_THAT(text(status), HasSubstr(": launch: CL_OUT_OF_RESOURCES"));
    expect_right(*session_, 50);
  }
  expect_nothing_held();
}

// The session remains usable, and a new session has a context without the failure.
TEST_P(DeviceFaults, FailureDoesNotAffectANewSession) {
  set_fault_plan({.event_status = CL_OUT_OF_RESOURCES, .failing_launch = 0});
  EXPECT_FALSE(call(*session_, 50).ok());
  no_faults();
  const Session second = *make_faulty_session(*module_);
  EXPECT_EQ(driver_calls("clCreateContext"), 1);
  expect_right(second, 3);
  expect_right(*session_, 3);
}

// The device is lost in each copy of a call in turn. From then on the session reports the first
// cause and does not call the driver. A new session works.
TEST_P(DeviceFaults, DeviceLossDuringACopyEndsTheSession) {
  const std::string in = GetParam().is_shared ? "clEnqueueMapBuffer" : "clEnqueueWriteBuffer";
  const std::string out = GetParam().is_shared ? "clEnqueueUnmapMemObject" : "clEnqueueReadBuffer";
  for (const std::string& copy : {in, out})
    for (int64_t number = 0; number < 2; ++number) {
      FaultPlan plan{
          .failing_call = number, .only = copy, .error = CL_DEVICE_NOT_AVAILABLE, .for_good = true};
      set_fault_plan(plan);
      const std::string cause =
          "device \"dev\": the device is lost: " + copy + ": CL_DEVICE_NOT_AVAILABLE";
      EXPECT_THAT(text(call(*session_, 50).status()), HasSubstr(cause));
      for (const int64_t n : {50, 3000}) {
        set_fault_plan({});
        const Status status = call(*session_, n).status();
        EXPECT_EQ(status.code(), StatusCode::kDevice);
        EXPECT_THAT(text(status), HasSubstr(cause));
        for (const char* name :
             {"clEnqueueNDRangeKernel", "clEnqueueWriteBuffer", "clEnqueueReadBuffer",
              "clEnqueueMapBuffer", "clEnqueueUnmapMemObject", "clCreateBuffer", "clFinish"})
          EXPECT_EQ(driver_calls(name), 0) << name;
      }
      expect_nothing_held();
      no_faults();
      {
        const Session other = *make_faulty_session(*module_);
        expect_right(other, 3);
        EXPECT_THAT(text(call(*session_, 3).status()), HasSubstr(cause));
      }
      session_.reset();
      EXPECT_EQ(live_driver_objects(), objects_before_);
      session_.emplace(*make_faulty_session(*module_));
      expect_right(*session_, 3);
      session_->trim();
    }
}

// Each driver call fails once during a call. The call reports an error with the device's name or
// returns the correct result, and the session remains usable.
TEST_P(DeviceFaults, EveryDriverCallMayFail) {
  int failures = 0;
  for (int64_t driver_call = 0;; ++driver_call) {
    ASSERT_LT(driver_call, 500);
    session_->trim();
    set_fault_plan({.failing_call = driver_call, .error = CL_OUT_OF_RESOURCES});
    const Result<std::vector<Tensor>> results = call(*session_, 7);
    if (!testing::fault_has_struck()) break;
    if (results.ok()) {
      EXPECT_TRUE(is_right((*results)[0])) << driver_call;
    } else {
      ++failures;
      EXPECT_THAT(text(results.status()), HasSubstr("dev")) << driver_call;
      EXPECT_THAT(text(results.status()), HasSubstr("CL_OUT_OF_RESOURCES")) << driver_call;
    }
    set_fault_plan({});
    expect_right(*session_, 7);
  }
  EXPECT_GT(failures, 10);
  expect_nothing_held();
}

// One launch among concurrent calls fails: asynchronously, when it is enqueued, or when its
// arguments are set. One call reports the error, and all others have correct results.
TEST_P(DeviceFaults, FailureAffectsOneCallOnly) {
  const FaultPlan plans[] = {
      {.event_status = CL_OUT_OF_RESOURCES, .failing_launch = 0},
      {.event_status = CL_OUT_OF_RESOURCES, .failing_launch = 31},
      {.failing_call = 13, .only = "clEnqueueNDRangeKernel", .error = CL_OUT_OF_RESOURCES},
      {.failing_call = 9, .only = "clSetKernelArg", .error = CL_OUT_OF_HOST_MEMORY}};
  for (const FaultPlan& plan : plans) {
    set_fault_plan(plan);
    std::atomic<int> wrong = 0;
    EXPECT_EQ(count_failures_of_concurrent_calls(wrong), 1);
    EXPECT_EQ(wrong, 0);
  }
  no_faults();
  expect_right(*session_, 3);
  expect_nothing_held();
}

// The device is lost during concurrent calls. Each call ends with the correct result or with the
// cause, and all later calls fail.
TEST_P(DeviceFaults, DeviceLossEndsAllCalls) {
  set_fault_plan({.failing_call = 11,
                  .only = "clEnqueueNDRangeKernel",
                  .error = CL_DEVICE_NOT_AVAILABLE,
                  .for_good = true});
  std::atomic<int> wrong = 0;
  // A call has two launches, so at most 11 / 2 calls succeed before the loss.
  EXPECT_GE(count_failures_of_concurrent_calls(wrong), kConcurrentCalls - 11 / 2);
  EXPECT_EQ(wrong, 0);
  EXPECT_THAT(text(call(*session_, 3).status()), HasSubstr("the device is lost: clEnqueueNDRange"));
  expect_nothing_held();
}

// A call makes two copies to the device and two copies from it, or only the first and the last one
// if the device and the host reach one pool. The host waits only before it reads copied bytes, or
// bytes that the device has written.
TEST_P(DeviceFaults, HostWaitsBeforeItReadsBytes) {
  expect_right(*session_, 20);
  set_fault_plan({});
  expect_right(*session_, 20);
  EXPECT_EQ(driver_calls("clEnqueueNDRangeKernel"), 2);
  const bool is_reached = GetParam().name == std::string("reached");
  const int maps = is_reached ? 2 : GetParam().is_shared ? 4 : 0;
  EXPECT_EQ(driver_calls("clEnqueueMapBuffer"), maps);
  EXPECT_EQ(driver_calls("clEnqueueUnmapMemObject"), maps);
  EXPECT_EQ(driver_calls("clEnqueueWriteBuffer"), GetParam().is_shared ? 0 : 2);
  EXPECT_EQ(driver_calls("clEnqueueReadBuffer"), GetParam().is_shared ? 0 : 2);
  EXPECT_EQ(driver_calls("clWaitForEvents"), is_reached ? 1 : GetParam().is_shared ? 0 : 2);
  EXPECT_EQ(driver_calls("clFinish"), 0);
}

TEST(DeviceWithItsOwnMemory, ReachesNoPoolOfTheHost) {
  const Result<Module> module = compile_graph(kMemories[3], {"*=dev", "turn=cpu"});
  ASSERT_TRUE(module.ok()) << module.status().message();
  if (auto devices = runtime::list_opencl_devices(); !devices.ok())
    GTEST_SKIP() << devices.status().message();
  set_fault_plan({.shares_host_memory = false});
  const Status status = make_faulty_session(*module).status();
  set_fault_plan({});
  EXPECT_EQ(status.code(), StatusCode::kUnsupported);
  EXPECT_THAT(text(status), HasSubstr("cpu.global.fast is reached by device \"dev\", but "));
  EXPECT_THAT(text(status), HasSubstr(" cannot access memory of the host"));
}

INSTANTIATE_TEST_SUITE_P(Memory, DeviceFaults, ::testing::ValuesIn(kMemories),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace scopevm
