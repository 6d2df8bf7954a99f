// The generator of elementwise ops, single or fused.
#pragma once

#include "compiler/kernels/builder/lowering_context.h"
#include "compiler/kernels/elementwise/fused_body.h"

namespace scopevm::compiler::kernels {

// REQUIRES: the body has only elementwise ops. Fails with a diagnostic if the results have
// different shapes.
llvm::LogicalResult lower_map(const FusedBody& body, LoweringContext& context);

}  // namespace scopevm::compiler::kernels
