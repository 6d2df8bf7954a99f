// The DeviceDriver of the host CPU.
#pragma once

#include "runtime/device/driver.h"

namespace scopevm::runtime {

const DeviceDriver& cpu_driver();

}  // namespace scopevm::runtime
