// Tables with a static size that a kernel writes and reads: on the stack if they fit, otherwise in
// scratch memory of the launch.
#pragma once

#include "compiler/kernels/builder/kernel_builder.h"

namespace scopevm::compiler::kernels {

// Adds a table with one instance per worker. It is on the stack if all such tables of the kernel
// together take at most max_stack_bytes() (target_attributes.h). REQUIRES: the insertion point is
// outside loops.
Scratch local_table(KernelBuilder& k, int64_t elements, DType dtype);

}  // namespace scopevm::compiler::kernels
