// The sum of products that the micro-kernel of bytes is made of.
#pragma once

#include "compiler/kernels/builder/code_builder.h"

namespace scopevm::compiler::kernels {

// sum[i] + the four products of the bytes of a[i], unsigned, and b[i], signed. All three are i32
// vectors of the target's width.
Term byte_dot(CodeBuilder& e, Term a, Term b, Term sum);

}  // namespace scopevm::compiler::kernels
