// The one kind of device that the module format names.
#pragma once

namespace scopevm::format {

// The kind of the host's own processor: the session's threads run the kernels of such devices, and
// their memory, frames included, is the process's. All other kinds are those of drivers
// (runtime/device/driver.h).
inline constexpr char kHostKind[] = "cpu";

}  // namespace scopevm::format
