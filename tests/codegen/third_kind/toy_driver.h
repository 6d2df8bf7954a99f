// Runtime driver of the device kind "toy": one device, which uses the memory of the process and
// runs kernels synchronously on the calling thread.
#pragma once

#include "runtime/device/driver.h"

namespace scopevm::testing {

const runtime::DeviceDriver& toy_driver();

// Number of launches on all toy devices since the start of the process.
int64_t toy_launches();

}  // namespace scopevm::testing
