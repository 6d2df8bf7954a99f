// The generator of elementwise ops, one or many.
#pragma once

#include "compiler/kernels/builder/lowering_context.h"
#include "compiler/kernels/elementwise/fused_body.h"

namespace scopevm::compiler::kernels {

// Elementwise ops only, all results of one shape.
llvm::LogicalResult lower_map(const FusedBody& body, LoweringContext& context);

}  // namespace scopevm::compiler::kernels
