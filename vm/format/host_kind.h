// The only device kind that the module format defines.
#pragma once

namespace scopevm::format {

// The kind of the host CPU. The session's threads run the kernels of such devices, and their
// memory, including frames, is process memory. All other kinds are defined by drivers
// (runtime/device/driver.h).
inline constexpr char kHostKind[] = "cpu";

}  // namespace scopevm::format
