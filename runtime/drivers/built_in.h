// The drivers of this build. This list defines the runtime's device kinds
// (docs/adding-a-device.md).
#pragma once

#include "runtime/device/driver.h"

namespace scopevm::runtime {

// All drivers, in the order in which `scopevm machine` lists them: the host first.
const Drivers& built_in_drivers();

}  // namespace scopevm::runtime
