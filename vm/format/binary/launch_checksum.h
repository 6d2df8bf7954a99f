// The checksum that ties the launches of a module to its CPU images.
//
// An image is native code and therefore trusted; the tables and the bytecode of a module are not.
// The compiler stores in each CPU image the checksum of everything that decides which bytes a
// kernel accesses: the launches, the kernels with their devices, the external functions with their
// descriptions, and the shape functions. Without the checksum, a module could run a kernel with
// other extents than the compiler derived.
#pragma once

#include <cstdint>

#include "vm/format/schema/module_contents.h"

namespace scopevm::format {

// The 64-bit constant that a CPU image exports.
inline constexpr char kLaunchChecksumSymbol[] = "scopevm_launch_checksum";

// REQUIRES: the kernels' devices are in range.
uint64_t launch_checksum(const ModuleContents& module);

}  // namespace scopevm::format
