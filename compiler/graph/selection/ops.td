// Ops that order elements, rows or boxes, and choose among them.
#ifndef SCOPEVM_GRAPH_SELECTION_OPS
#define SCOPEVM_GRAPH_SELECTION_OPS

include "compiler/graph/op_classes.td"

def TopKOp : Graph_Op<"top_k", "the k greatest or least along axis, sorted, and their i64 indices"> {
  let arguments = (ins Graph_Tensor:$x, Graph_Dims:$k, I64Attr:$axis, BoolAttr:$largest);
  let results = (outs Graph_Tensor:$values, Graph_Tensor:$indices);
}

// x: [n, width]. Rows compare element by element; NaN is above all numbers; equal rows stay in order.
def SortRowsOp : Graph_Op<"sort_rows", "i64[n]: the rows of x in ascending order"> {
  let arguments = (ins Graph_Tensor:$x);
  let checks = kNoChecks;
}

// x: [n, width]; order: its sort_rows. All results are i64: the first row of each group of equal
// rows, the group of each row, the size of each group, and the number of groups, one element; of
// first and sizes only that many of the n elements are written. Groups are in the order of `order`,
// or by_first: of their first rows.
def UniqueRowsOp : Graph_Op<"unique_rows", "groups of equal rows"> {
  let arguments = (ins Graph_Tensor:$x, Graph_Tensor:$order,
                       DefaultValuedAttr<BoolAttr, "false">:$by_first);
  let results = (outs Graph_Tensor:$first, Graph_Tensor:$group, Graph_Tensor:$sizes, Graph_Tensor:$count);
  let checks = kNoChecks;
}

// boxes: f32[batch, n, 4], two corners (y, x, y, x), or when centered (x, y, width, height). scores:
// f32[batch, class, n] in descending order; order: i64, the box of each score. Thresholds: one f32.
// For each class the best boxes above score_threshold that overlap none better by more than
// iou_threshold, at most `limit`: selected is i64[batch, class, min(limit, n)], of which counts,
// i64[batch, class], are written.
def SuppressBoxesOp : Graph_Op<"suppress_boxes", "non-maximum suppression"> {
  let arguments = (ins Graph_Tensor:$boxes, Graph_Tensor:$scores, Graph_Tensor:$order,
                       Graph_Tensor:$iou_threshold, Graph_Tensor:$score_threshold, Graph_Dims:$limit,
                       DefaultValuedAttr<BoolAttr, "false">:$centered);
  let results = (outs Graph_Tensor:$selected, Graph_Tensor:$counts);
  let checks = kNoChecks;
}

#endif
