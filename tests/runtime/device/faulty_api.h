// The driver's functions behind a layer that counts the objects alive and fails calls on demand.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "runtime/opencl/api.h"

namespace scopevm::testing {

struct FaultPlan {
  // The call that fails, counted from 0 over all functions but releases; none when negative.
  int64_t failing_call = -1;
  // Only calls of this function count, when it is not empty.
  std::string only;
  cl_int error = CL_OUT_OF_RESOURCES;
  // From that call on all that count fail, as with a device that is lost.
  bool for_good = false;
  // What events say of their commands, unless 0; of one launch only, counted from 0, where
  // failing_launch is not negative.
  cl_int event_status = 0;
  int64_t failing_launch = -1;
  // What the device says of sharing the host's memory, where it is to say something else.
  std::optional<bool> shares_host_memory = std::nullopt;
  // Likewise of its memory.
  std::optional<cl_ulong> memory_bytes = std::nullopt;
};

struct DriverBlocks {
  int64_t count = 0;
  int64_t bytes = 0;
  bool operator==(const DriverBlocks&) const = default;
};

// The layer over the machine's OpenCL. One per process: the driver's functions carry no context.
// REQUIRES: load_api() is ok.
const runtime::opencl::Api& faulty_api();

// Replaces the plan, and counts calls from 0 again.
void set_fault_plan(const FaultPlan& plan);
// True when the plan's call has come.
bool fault_has_struck();
// Calls of the function since the plan was set.
int64_t driver_calls(std::string_view function);
// Objects created and not released, and parts of buffers mapped and not unmapped.
int64_t live_driver_objects();
// Of these, the buffers.
DriverBlocks live_driver_blocks();

}  // namespace scopevm::testing
