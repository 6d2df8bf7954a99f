// The sum of products that the micro-kernel of bytes is made of.
#pragma once

#include "compiler/kernels/contraction/emitter.h"
#include "compiler/kernels/target/target.h"

namespace scopevm::compiler::kernels {

// sum[i] + the four products of the bytes of a[i], unsigned, and b[i], signed. All three are i32
// vectors of the target's width.
mlir::Value byte_dot(Emitter& emit, const Target& target, mlir::Value a, mlir::Value b,
                     mlir::Value sum);

}  // namespace scopevm::compiler::kernels
