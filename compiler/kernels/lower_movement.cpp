// An op -> its generator, for the families whose ops are lowered one at a time.
#include "compiler/kernels/contraction/determinant.h"
#include "compiler/kernels/generator.h"
#include "compiler/kernels/indexing/indexing.h"
#include "compiler/kernels/layout/layout.h"
#include "compiler/kernels/pooling/pooling.h"
#include "compiler/kernels/selection/selection.h"
#include "compiler/kernels/signal/signal.h"
#include "compiler/kernels/string/string.h"

#include "llvm/ADT/TypeSwitch.h"

namespace scopevm::compiler::kernels {

llvm::LogicalResult lower_movement(mlir::Operation* op, LoweringContext& context) {
  using namespace graph;     // NOLINT: the op classes
  return llvm::TypeSwitch<mlir::Operation*, llvm::LogicalResult>(op)
      .Case([&](TransposeOp op) { return lower_transpose(op, context); })
      .Case([&](ExpandOp op) { return lower_expand(op, context); })
      .Case([&](SliceOp op) { return lower_slice(op, context); })
      .Case([&](TileOp op) { return lower_tile(op, context); })
      .Case([&](ConcatOp op) { return lower_concat(op, context); })
      .Case([&](PadOp op) { return lower_pad(op, context); })
      .Case([&](TriluOp op) { return lower_trilu(op, context); })
      .Case([&](GatherOp op) { return lower_gather(op, context); })
      .Case([&](GatherElementsOp op) { return lower_gather_elements(op, context); })
      .Case([&](GatherNdOp op) { return lower_gather_nd(op, context); })
      .Case([&](ScatterElementsOp op) { return lower_scatter_elements(op, context); })
      .Case([&](ScatterNdOp op) { return lower_scatter_nd(op, context); })
      .Case([&](IotaOp op) { return lower_iota(op, context); })
      .Case([&](DimsTensorOp op) { return lower_dims_tensor(op, context); })
      .Case([&](OneHotOp op) { return lower_one_hot(op, context); })
      .Case([&](MaxPoolOp op) { return lower_max_pool(op, context); })
      .Case([&](AveragePoolOp op) { return lower_average_pool(op, context); })
      .Case([&](MaxPoolIndicesOp op) { return lower_max_pool_indices(op, context); })
      .Case([&](RoiAlignOp op) { return lower_roi_align(op, context); })
      .Case([&](DetOp op) { return lower_det(op, context); })
      .Case([&](ResizeOp op) { return lower_resize(op, context); })
      .Case([&](TopKOp op) { return lower_top_k(op, context); })
      .Case([&](CountNonzeroOp op) { return lower_count_nonzero(op, context); })
      .Case([&](NonzeroOp op) { return lower_nonzero(op, context); })
      .Case([&](SortRowsOp op) { return lower_sort_rows(op, context); })
      .Case([&](UniqueRowsOp op) { return lower_unique_rows(op, context); })
      .Case([&](SuppressBoxesOp op) { return lower_suppress_boxes(op, context); })
      .Case([&](CountNgramsOp op) { return lower_count_ngrams(op, context); })
      .Default(
          [](mlir::Operation* op) { return op->emitError("no kernel generator takes this op"); });
}

}  // namespace scopevm::compiler::kernels
