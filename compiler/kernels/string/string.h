// String: ops on the strings of a tensor, or on tokens. count_ngrams.cpp has count_ngrams.
#pragma once

#include "compiler/graph/graph_ops.h"
#include "compiler/kernels/builder/lowering_context.h"

namespace scopevm::compiler::kernels {

llvm::LogicalResult lower_count_ngrams(graph::CountNgramsOp op, LoweringContext& context);

}  // namespace scopevm::compiler::kernels
