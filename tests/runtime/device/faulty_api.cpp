// See the header. One template makes the layer of every function.
#include "tests/runtime/device/faulty_api.h"

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
  bool struck = false;
};

State& state() {
  static State state;
  return state;
}

bool must_fail(std::string_view name) {
  State& s = state();
  std::lock_guard<std::mutex> lock(s.mutex);
  if (!s.plan.only.empty() && s.plan.only != name) return false;
  if (s.calls++ != s.plan.failing_call) return false;
  s.struck = true;
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
  static R CL_API_CALL call(Args... args) {
    constexpr std::string_view kName = kNames[kFunction];
    if constexpr (kName.starts_with("clRelease")) {
      count(-1);
      return (state().real->*kMember)(args...);
    } else if constexpr (!std::is_same_v<R, cl_int>) {
      if (must_fail(kName)) {
        *last_of(args...) = state().plan.error;
        return nullptr;
      }
      R object = (state().real->*kMember)(args...);
      if (object != nullptr) count(1);
      return object;
    } else {
      if (must_fail(kName)) return state().plan.error;
      const cl_int result = (state().real->*kMember)(args...);
      if (kFunction == k_clEnqueueNDRangeKernel && result == CL_SUCCESS) count(1);
      if constexpr (kFunction == k_clGetEventInfo)
        if (state().plan.event_status != 0)
          *static_cast<cl_int*>(std::get<3>(std::make_tuple(args...))) = state().plan.event_status;
      return result;
    }
  }
};

Api make_layer() {
  state().real = *runtime::opencl::load_api();
  Api api;
#define SCOPEVM_TEST_LAYER(name) api.name = &Layer<k_##name, &Api::name, decltype(Api::name)>::call;
  SCOPEVM_OPENCL_FUNCTIONS(SCOPEVM_TEST_LAYER)
#undef SCOPEVM_TEST_LAYER
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
  s.struck = false;
}

bool fault_has_struck() {
  std::lock_guard<std::mutex> lock(state().mutex);
  return state().struck;
}

int64_t live_driver_objects() {
  std::lock_guard<std::mutex> lock(state().mutex);
  return state().live;
}

}  // namespace scopevm::testing
