// The lowering of each graph op: an overload of `lower`, defined next to the op's kernel generator,
// or in function/ for ops that become steps without kernels. Elementwise ops and reductions have no
// overload: lower_map_reduce uses their interfaces.
#pragma once

#include "compiler/graph/graph_ops.h"
#include "compiler/kernels/builder/lowering_context.h"
#include "mlir/IR/DialectRegistry.h"

namespace scopevm::compiler::kernels {

// Fails with a diagnostic on the op for an element type, rank or attribute without a kernel.
#define SCOPEVM_GRAPH_OP(Op) llvm::LogicalResult lower(graph::Op op, LoweringContext& context);
#include "compiler/graph/graph_op_list.inc"
#undef SCOPEVM_GRAPH_OP

// Attaches the overloads as external models of graph::LoweringOp when the dialect is loaded.
void register_lowerings(mlir::DialectRegistry& registry);

}  // namespace scopevm::compiler::kernels
