// Builds a machine description from the devices that the drivers list.
#pragma once

#include <cstdio>
#include <string>

#include "runtime/device/driver.h"

namespace scopevm::tool {

// Returns the description as JSON in the format of --machine. Writes one human-readable line to
// `log` for each device, and for each kind of device that is absent.
std::string describe_machine(const runtime::Drivers& drivers, std::FILE* log);

}  // namespace scopevm::tool
