// Implements faulty_api.h. One template generates the wrapper of every driver function.
#include "tests/runtime/device/faulty_api.h"

#include <map>
#include <mutex>
#include <string_view>
#include <tuple>
#include <type_traits>

namespace scopevm::testing {
namespace {

using runtime::opencl::Api;

struct State {
  std::mutex mutex;
  const Api* real = nullptr;
  FaultPlan plan;
  int64_t calls = 0;
  int64_t live = 0;
  std::string_view failed;  // the function of the first failing call
  int64_t launches = 0;
  cl_event failing_event = nullptr;
  std::map<std::string_view, int64_t> calls_of;
  struct Block {
    int64_t bytes = 0;
    int64_t mapped = 0;  // number of mapped regions
  };
  std::map<cl_mem, Block> blocks;
};

State& state() {
  static State state;
  return state;
}

bool must_fail(std::string_view name) {
  State& s = state();
  std::lock_guard<std::mutex> lock(s.mutex);
  ++s.calls_of[name];
  if (!s.plan.only.empty() && s.plan.only != name) return false;
  if (!s.failed.empty() && s.plan.for_good) return true;
  if (s.calls++ != s.plan.failing_call) return false;
  s.failed = name;
  return true;
}

void count(int64_t change) {
  State& s = state();
  std::lock_guard<std::mutex> lock(s.mutex);
  s.live += change;
}

template <typename... Args>
auto last_of(Args... args) {
  return std::get<sizeof...(Args) - 1>(std::make_tuple(args...));
}

void made_block(cl_mem buffer, size_t bytes) {
  std::lock_guard<std::mutex> lock(state().mutex);
  state().blocks[buffer] = {static_cast<int64_t>(bytes), 0};
}

void mapped(cl_mem buffer, int64_t change) {
  State& s = state();
  std::lock_guard<std::mutex> lock(s.mutex);
  s.blocks[buffer].mapped += change;
  s.live += change;
}

// Releasing a buffer also ends its mapped regions.
void released_block(cl_mem buffer) {
  State& s = state();
  std::lock_guard<std::mutex> lock(s.mutex);
  s.live -= s.blocks[buffer].mapped;
  s.blocks.erase(buffer);
}

void launched(cl_event event) {
  State& s = state();
  std::lock_guard<std::mutex> lock(s.mutex);
  if (s.launches++ == s.plan.failing_launch) s.failing_event = event;
}

// The driver can reuse the address of a released event for another event.
void released_event(cl_event event) {
  State& s = state();
  std::lock_guard<std::mutex> lock(s.mutex);
  if (s.failing_event == event) s.failing_event = nullptr;
}

// Replaces the status of a command by the status in the plan, if the plan has one for this command.
void change_event_status(cl_event event, void* status) {
  State& s = state();
  std::lock_guard<std::mutex> lock(s.mutex);
  const bool is_failing = s.plan.failing_launch < 0 || event == s.failing_event;
  if (is_failing && s.plan.event_status != 0) *static_cast<cl_int*>(status) = s.plan.event_status;
}

void change_device_info(cl_device_info what, void* value) {
  State& s = state();
  std::lock_guard<std::mutex> lock(s.mutex);
  if (what == CL_DEVICE_HOST_UNIFIED_MEMORY && s.plan.shares_host_memory)
    *static_cast<cl_bool*>(value) = *s.plan.shares_host_memory ? CL_TRUE : CL_FALSE;
  if (what == CL_DEVICE_SVM_CAPABILITIES && s.plan.shares_host_memory == false)
    *static_cast<cl_device_svm_capabilities*>(value) = CL_DEVICE_SVM_COARSE_GRAIN_BUFFER;
  if (what == CL_DEVICE_GLOBAL_MEM_SIZE && s.plan.memory_bytes)
    *static_cast<cl_ulong*>(value) = *s.plan.memory_bytes;
}

enum Function {
#define SCOPEVM_TEST_FUNCTION(name) k_##name,
  SCOPEVM_OPENCL_FUNCTIONS(SCOPEVM_TEST_FUNCTION)
#undef SCOPEVM_TEST_FUNCTION
};

constexpr std::string_view kNames[] = {
#define SCOPEVM_TEST_NAME(name) #name,
    SCOPEVM_OPENCL_FUNCTIONS(SCOPEVM_TEST_NAME)
#undef SCOPEVM_TEST_NAME
};

template <Function kFunction, auto kMember, typename Pointer>
struct Layer;

template <Function kFunction, auto kMember, typename R, typename... Args>
struct Layer<kFunction, kMember, R(CL_API_CALL*)(Args...)> {
  using All = std::tuple<Args...>;
  static constexpr std::string_view kName = kNames[kFunction];

  static R CL_API_CALL call(Args... args) {
    if constexpr (kName.starts_with("clRelease")) {
      count(-1);
      if constexpr (kFunction == k_clReleaseMemObject) released_block(args...);
      if constexpr (kFunction == k_clReleaseEvent) released_event(args...);
      return (state().real->*kMember)(args...);
    } else if constexpr (!std::is_same_v<R, cl_int>) {
      if (must_fail(kName)) {
        *last_of(args...) = state().plan.error;
        return nullptr;
      }
      R object = (state().real->*kMember)(args...);
      if (object != nullptr) made(object, All(args...));
      return object;
    } else {
      if (must_fail(kName)) {
        // After a failed wait, the caller may release memory that commands use. Call the driver
        // nevertheless, so that no command is running.
        if constexpr (kFunction == k_clWaitForEvents || kFunction == k_clFinish)
          (state().real->*kMember)(args...);
        return state().plan.error;
      }
      const cl_int result = (state().real->*kMember)(args...);
      if (result == CL_SUCCESS) succeeded(All(args...));
      return result;
    }
  }

 private:
  static void made(R object, const All& args) {
    if constexpr (kFunction == k_clEnqueueMapBuffer) return mapped(std::get<1>(args), 1);
    count(1);
    if constexpr (kFunction == k_clCreateBuffer) made_block(object, std::get<2>(args));
  }

  static void succeeded(const All& args) {
    if constexpr (kFunction == k_clEnqueueUnmapMemObject) mapped(std::get<1>(args), -1);
    if constexpr (std::is_same_v<std::tuple_element_t<sizeof...(Args) - 1, All>, cl_event*>)
      if (std::get<sizeof...(Args) - 1>(args) != nullptr) count(1);
    if constexpr (kFunction == k_clEnqueueNDRangeKernel) launched(*std::get<8>(args));
    if constexpr (kFunction == k_clGetEventInfo)
      change_event_status(std::get<0>(args), std::get<3>(args));
    if constexpr (kFunction == k_clGetDeviceInfo)
      if (std::get<3>(args) != nullptr) change_device_info(std::get<1>(args), std::get<3>(args));
  }
};

Api make_layer() {
  state().real = *runtime::opencl::load_api();
  Api api;
#define SCOPEVM_TEST_LAYER(name) api.name = &Layer<k_##name, &Api::name, decltype(Api::name)>::call;
  SCOPEVM_OPENCL_FUNCTIONS(SCOPEVM_TEST_LAYER)
#undef SCOPEVM_TEST_LAYER
  api.clSVMAlloc = state().real->clSVMAlloc;
  api.clSVMFree = state().real->clSVMFree;
  return api;
}

}  // namespace

const Api& faulty_api() {
  static const Api api = make_layer();
  return api;
}

void set_fault_plan(const FaultPlan& plan) {
  State& s = state();
  std::lock_guard<std::mutex> lock(s.mutex);
  s.plan = plan;
  s.calls = 0;
  s.failed = {};
  s.launches = 0;
  s.failing_event = nullptr;
  s.calls_of.clear();
}

bool fault_has_struck() { return !failed_function().empty(); }

std::string_view failed_function() {
  std::lock_guard<std::mutex> lock(state().mutex);
  return state().failed;
}

int64_t driver_calls(std::string_view function) {
  std::lock_guard<std::mutex> lock(state().mutex);
  const auto found = state().calls_of.find(function);
  return found == state().calls_of.end() ? 0 : found->second;
}

int64_t live_driver_objects() {
  std::lock_guard<std::mutex> lock(state().mutex);
  return state().live;
}

DriverBlocks live_driver_blocks() {
  std::lock_guard<std::mutex> lock(state().mutex);
  DriverBlocks blocks;
  for (const auto& [buffer, block] : state().blocks) {
    ++blocks.count;
    blocks.bytes += block.bytes;
  }
  return blocks;
}

}  // namespace scopevm::testing
