// The lowering of each graph op is an overload of `lower`. It is defined next to the op's kernel
// generator, in function/ for an op without a kernel, or in op_lowerings.cpp for sv.group. Where an
// interface of the op selects the generator (elementwise ops, reductions, normalisations of rows,
// contractions), where FunctionLowering has the overload, and for terminators, which are lowered
// with their parent op, it is not defined.
#pragma once

#include "compiler/graph/graph_ops.h"
#include "compiler/kernels/builder/lowering_context.h"
#include "mlir/IR/DialectRegistry.h"

namespace scopevm::compiler::kernels {

// Each overload fails with a diagnostic on the op if no kernel supports its element type, rank or
// attributes.
#define SCOPEVM_GRAPH_OP(Op) llvm::LogicalResult lower(graph::Op op, LoweringContext& context);
#include "compiler/graph/graph_op_list.inc"
#undef SCOPEVM_GRAPH_OP

// LoweringOp::getFusibleTail() of these ops; other ops have no such tail.
llvm::SmallVector<mlir::Operation*> fusible_tail(graph::MatMulOp first, mlir::Value score,
                                                 graph::WithEpilogue with_epilogue);
llvm::SmallVector<mlir::Operation*> fusible_tail(graph::BlockedConvOp first, mlir::Value image,
                                                 graph::WithEpilogue with_epilogue);

// Attaches the overloads as external models of graph::LoweringOp when the dialect is loaded.
void register_lowerings(mlir::DialectRegistry& registry);

}  // namespace scopevm::compiler::kernels
