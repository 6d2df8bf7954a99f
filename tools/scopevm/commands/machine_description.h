// Builds a machine description from the devices that the drivers list.
#pragma once

#include <cstdio>
#include <string>

#include "runtime/device/driver.h"

namespace scopevm::tool {

// Returns the description as JSON in the format of --machine. Writes human-readable lines to `log`:
// the summary of each device, the note of each driver, and the error of each driver that cannot
// list its devices.
std::string describe_machine(const runtime::Drivers& drivers, std::FILE* log);

}  // namespace scopevm::tool
