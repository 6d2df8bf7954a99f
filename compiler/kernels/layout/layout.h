// Layout: ops that copy elements to other positions, and ops that write positions as elements.
//
//   affine.cpp        transpose, expand, slice, tile, concat
//   strided_copy.cpp  the copies of affine.cpp, whose two sides step by strides
//   border.cpp        pad, trilu
//   generate.cpp      iota, dims_tensor
#pragma once

#include "compiler/graph/graph_ops.h"
#include "compiler/kernels/builder/lowering_context.h"

namespace scopevm::compiler::kernels {

llvm::LogicalResult lower_transpose(graph::TransposeOp op, LoweringContext& context);
llvm::LogicalResult lower_expand(graph::ExpandOp op, LoweringContext& context);
llvm::LogicalResult lower_slice(graph::SliceOp op, LoweringContext& context);
llvm::LogicalResult lower_tile(graph::TileOp op, LoweringContext& context);
llvm::LogicalResult lower_concat(graph::ConcatOp op, LoweringContext& context);
llvm::LogicalResult lower_pad(graph::PadOp op, LoweringContext& context);
llvm::LogicalResult lower_trilu(graph::TriluOp op, LoweringContext& context);
llvm::LogicalResult lower_iota(graph::IotaOp op, LoweringContext& context);
llvm::LogicalResult lower_dims_tensor(graph::DimsTensorOp op, LoweringContext& context);

}  // namespace scopevm::compiler::kernels
