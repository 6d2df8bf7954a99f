// What the drivers of a machine list, as a machine description.
#pragma once

#include <cstdio>
#include <string>

#include "runtime/device/driver.h"

namespace scopevm::tool {

// The description, as JSON text that --machine reads. `log` gets a line for people for each device
// and for each kind that has none.
std::string describe_machine(const runtime::Drivers& drivers, std::FILE* log);

}  // namespace scopevm::tool
