// The DeviceDriver of CUDA devices; see cuda.h.
#pragma once

#include "runtime/device/driver.h"

namespace scopevm::runtime {

const DeviceDriver& cuda_driver();

}  // namespace scopevm::runtime
