// Ops that sort and select elements, rows or boxes.
#ifndef SCOPEVM_GRAPH_SELECTION_OPS
#define SCOPEVM_GRAPH_SELECTION_OPS

include "compiler/graph/op_classes.td"

def TopKOp : Graph_Op<"top_k", "the k largest or smallest elements along axis, sorted, and their i64 indices"> {
  let arguments = (ins Graph_Tensor:$x, Graph_Dims:$k, I64Attr:$axis, BoolAttr:$largest);
  let results = (outs Graph_Tensor:$values, Graph_Tensor:$indices);
  let parallel_axes = kAllButAxis;
  let elements = [kNumber];
}

// x is [n, width]. Rows are compared lexicographically, and NaN is greater than all numbers. The
// sort is stable.
def SortRowsOp : Graph_Op<"sort_rows", "i64[n]: indices that sort the rows of x"> {
  let arguments = (ins Graph_Tensor:$x);
  let checks = kNoChecks;
}

// x is [n, width], and order is the result of sort_rows for x. All results are i64:
//   first  the first row of each group of equal rows
//   group  the group of each row
//   sizes  the number of rows of each group
//   count  the number of groups, one element
// first and sizes have n elements, of which only the first `count` are written. Groups are in the
// order of `order`, or of their first rows if by_first.
def UniqueRowsOp : Graph_Op<"unique_rows", "groups of equal rows"> {
  let arguments = (ins Graph_Tensor:$x, Graph_Tensor:$order,
                       DefaultValuedAttr<BoolAttr, "false">:$by_first);
  let results = (outs Graph_Tensor:$first, Graph_Tensor:$group, Graph_Tensor:$sizes, Graph_Tensor:$count);
  let checks = kNoChecks;
}

// Greedy non-maximum suppression per class. Selects at most `limit` boxes above score_threshold, in
// order of score. A box is skipped if it overlaps a selected box by more than iou_threshold.
//   boxes     f32[batch, n, 4]: two corners (y, x, y, x), or (x, y, width, height) if centered
//   scores    f32[batch, class, n], in descending order
//   order     i64[batch, class, n]: the index of the box of each score
//   selected  i64[batch, class, min(limit, n)]: only the first counts[batch, class] are written
// Each threshold is an f32 tensor of one element.
def SuppressBoxesOp : Graph_Op<"suppress_boxes", "non-maximum suppression"> {
  let arguments = (ins Graph_Tensor:$boxes, Graph_Tensor:$scores, Graph_Tensor:$order,
                       Graph_Tensor:$iou_threshold, Graph_Tensor:$score_threshold, Graph_Dims:$limit,
                       DefaultValuedAttr<BoolAttr, "false">:$centered);
  let results = (outs Graph_Tensor:$selected, Graph_Tensor:$counts);
  let checks = kNoChecks;
}

#endif
