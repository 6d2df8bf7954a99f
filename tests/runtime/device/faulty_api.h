// The driver's functions behind a layer that counts the objects alive and fails calls on demand.
#pragma once

#include <cstdint>
#include <string>

#include "runtime/opencl/api.h"

namespace scopevm::testing {

struct FaultPlan {
  // The call that fails, counted from 0 over all functions but releases; none when negative.
  int64_t failing_call = -1;
  // Only calls of this function count, when it is not empty.
  std::string only;
  cl_int error = CL_OUT_OF_RESOURCES;
  // What events say of their commands, unless 0.
  cl_int event_status = 0;
};

// The layer over the machine's OpenCL. One per process: the driver's functions carry no context.
// REQUIRES: load_api() is ok.
const runtime::opencl::Api& faulty_api();

// Replaces the plan, and counts calls from 0 again.
void set_fault_plan(const FaultPlan& plan);
// True when the plan's call has come.
bool fault_has_struck();
// Objects created and not released.
int64_t live_driver_objects();

}  // namespace scopevm::testing
