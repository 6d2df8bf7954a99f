// The driver of the host's CPU.
#pragma once

#include "runtime/device/driver.h"

namespace scopevm::runtime {

const DeviceDriver& cpu_driver();

}  // namespace scopevm::runtime
