// Attributes of a kernel module op, which describe its target to code generation.
#pragma once

#include <cstdint>

#include "compiler/machine/machine.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinOps.h"

namespace scopevm::compiler::kernels {

// The target has instructions that convert between f16 and f32. Modules for vectors of 256 bits or
// more have this attribute: make_target selects such vectors only for CPUs with these instructions.
// The OpenCL back end does not read the attribute.
inline constexpr char kHasF16c[] = "sv.has_f16c";

// The maximum size of all local buffers of one kernel together, in bytes. Local buffers are on the
// stack of the thread.
inline constexpr char kMaxStackBytes[] = "sv.max_stack_bytes";

// The value of kMaxStackBytes. The default is that of a CPU in a machine description.
inline int64_t max_stack_bytes(mlir::ModuleOp kernels) {
  const auto limit = kernels->getAttrOfType<mlir::IntegerAttr>(kMaxStackBytes);
  return limit ? limit.getInt() : Machine::kStackBytes;
}

}  // namespace scopevm::compiler::kernels
