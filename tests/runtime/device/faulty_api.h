// A fault-injecting wrapper around the OpenCL driver: counts live objects and makes chosen calls
// fail.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "runtime/opencl/api.h"

namespace scopevm::testing {

struct FaultPlan {
  // Index of the failing call, counted from 0 over all functions except releases. Negative: none.
  int64_t failing_call = -1;
  // If not empty, only calls of this function count.
  std::string only;
  cl_int error = CL_OUT_OF_RESOURCES;
  // All counted calls from `failing_call` on fail, as with a lost device.
  bool for_good = false;
  // Unless 0, the execution status that events report. If failing_launch is not negative, only the
  // event of that launch reports this status; launches are counted from 0.
  cl_int event_status = 0;
  int64_t failing_launch = -1;
  // Overrides CL_DEVICE_HOST_UNIFIED_MEMORY. With false, the device has no fine-grained shared
  // virtual memory either.
  std::optional<bool> shares_host_memory = std::nullopt;
  // Overrides the memory size of the device.
  std::optional<cl_ulong> memory_bytes = std::nullopt;
};

struct DriverBlocks {
  int64_t count = 0;
  int64_t bytes = 0;
  bool operator==(const DriverBlocks&) const = default;
};

// The wrapper of the machine's OpenCL driver. There is one wrapper per process, because driver
// functions have no argument that could identify it.
// REQUIRES: load_api() is ok.
const runtime::opencl::Api& faulty_api();

// Replaces the plan and resets all call counts to 0.
void set_fault_plan(const FaultPlan& plan);
// True if the failing call has been made.
bool fault_has_struck();
// The function of the first failing call. Empty if it has not been made.
std::string_view failed_function();
// Number of calls of the function since the plan was set. Calls of release functions are not
// counted.
int64_t driver_calls(std::string_view function);
// Number of objects not yet released and buffer regions not yet unmapped.
int64_t live_driver_objects();
// Number and total size of the buffers that are not yet released.
DriverBlocks live_driver_blocks();

}  // namespace scopevm::testing
