// The DeviceDriver of OpenCL devices; see opencl.h.
#pragma once

#include "runtime/device/driver.h"

namespace scopevm::runtime {

const DeviceDriver& opencl_driver();

}  // namespace scopevm::runtime
