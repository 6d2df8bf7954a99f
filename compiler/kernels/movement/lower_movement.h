// Movement: ops that carry elements to other places. One function an op; lower_movement.cpp
// chooses.
//
//   affine.cpp        transpose, expand, slice, tile, concat
//   border.cpp        pad, trilu
//   gather.cpp        gather, gather_elements, gather_nd
//   scatter.cpp       scatter_elements, scatter_nd
//   generate.cpp      iota, dims_tensor, one_hot
//   windows.cpp       max_pool, average_pool
//   pool_indices.cpp  max_pool_indices
//   resize.cpp        resize
//   roi_align.cpp     roi_align
//   top_k.cpp         top_k
//   determinant.cpp   det, which moves nothing but works on whole matrices in the same way
//   nonzero.cpp       count_nonzero, nonzero
//   sort.cpp          sort_rows, unique_rows
//   suppress_boxes.cpp
//   count_ngrams.cpp
//
// Indices come from data, and a kernel cannot fail: reads clamp an index that is out of range to
// the nearest valid one, and give 0 where there is none; writes drop it.
#pragma once

#include "compiler/graph/graph_ops.h"
#include "compiler/kernels/generator.h"

namespace scopevm::compiler::kernels::movement {

llvm::LogicalResult lower_transpose(graph::TransposeOp op, LoweringContext& context);
llvm::LogicalResult lower_expand(graph::ExpandOp op, LoweringContext& context);
llvm::LogicalResult lower_slice(graph::SliceOp op, LoweringContext& context);
llvm::LogicalResult lower_tile(graph::TileOp op, LoweringContext& context);
llvm::LogicalResult lower_concat(graph::ConcatOp op, LoweringContext& context);
llvm::LogicalResult lower_pad(graph::PadOp op, LoweringContext& context);
llvm::LogicalResult lower_trilu(graph::TriluOp op, LoweringContext& context);
llvm::LogicalResult lower_gather(graph::GatherOp op, LoweringContext& context);
llvm::LogicalResult lower_gather_elements(graph::GatherElementsOp op, LoweringContext& context);
llvm::LogicalResult lower_gather_nd(graph::GatherNdOp op, LoweringContext& context);
llvm::LogicalResult lower_scatter_elements(graph::ScatterElementsOp op, LoweringContext& context);
llvm::LogicalResult lower_scatter_nd(graph::ScatterNdOp op, LoweringContext& context);
llvm::LogicalResult lower_iota(graph::IotaOp op, LoweringContext& context);
llvm::LogicalResult lower_dims_tensor(graph::DimsTensorOp op, LoweringContext& context);
llvm::LogicalResult lower_one_hot(graph::OneHotOp op, LoweringContext& context);
llvm::LogicalResult lower_max_pool(graph::MaxPoolOp op, LoweringContext& context);
llvm::LogicalResult lower_average_pool(graph::AveragePoolOp op, LoweringContext& context);
llvm::LogicalResult lower_max_pool_indices(graph::MaxPoolIndicesOp op, LoweringContext& context);
llvm::LogicalResult lower_roi_align(graph::RoiAlignOp op, LoweringContext& context);
llvm::LogicalResult lower_det(graph::DetOp op, LoweringContext& context);
llvm::LogicalResult lower_resize(graph::ResizeOp op, LoweringContext& context);
llvm::LogicalResult lower_top_k(graph::TopKOp op, LoweringContext& context);
llvm::LogicalResult lower_count_nonzero(graph::CountNonzeroOp op, LoweringContext& context);
llvm::LogicalResult lower_nonzero(graph::NonzeroOp op, LoweringContext& context);
llvm::LogicalResult lower_sort_rows(graph::SortRowsOp op, LoweringContext& context);
llvm::LogicalResult lower_unique_rows(graph::UniqueRowsOp op, LoweringContext& context);
llvm::LogicalResult lower_suppress_boxes(graph::SuppressBoxesOp op, LoweringContext& context);
llvm::LogicalResult lower_count_ngrams(graph::CountNgramsOp op, LoweringContext& context);

}  // namespace scopevm::compiler::kernels::movement
