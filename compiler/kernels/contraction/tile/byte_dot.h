// The dot product of four bytes, from which the micro-kernel of bytes is built.
#pragma once

#include "compiler/kernels/builder/code_builder.h"

namespace scopevm::compiler::kernels {

// sum[i] + the dot product of the four unsigned bytes of a[i] and the four signed bytes of b[i].
// All three operands are i32 vectors of 128 bits up to the target's width.
Term byte_dot(CodeBuilder& e, Term a, Term b, Term sum);

}  // namespace scopevm::compiler::kernels
