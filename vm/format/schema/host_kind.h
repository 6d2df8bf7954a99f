// The only device kind that the module format defines.
#pragma once

namespace scopevm::format {

// The kind of CPUs. The session's threads run the kernels of a CPU. The memory of a CPU, which
// includes the frames, is memory of the process. Drivers define all other kinds
// (runtime/device/driver.h).
inline constexpr char kHostKind[] = "cpu";

}  // namespace scopevm::format
