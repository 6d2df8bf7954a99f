// The runtime's part of the kind "toy": one device, whose memory is the process's and whose kernels
// run at once on the calling thread.
#pragma once

#include "runtime/device/driver.h"

namespace scopevm::testing {

const runtime::DeviceDriver& toy_driver();

// Launches of all toy devices so far.
int64_t toy_launches();

}  // namespace scopevm::testing
