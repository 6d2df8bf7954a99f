// Ops that read or write elements at data-dependent indices, and ops that compute such indices.
#ifndef SCOPEVM_GRAPH_INDEXING_OPS
#define SCOPEVM_GRAPH_INDEXING_OPS

include "compiler/graph/op_classes.td"

def GatherOp : Graph_Op<"gather", "slices of x along axis at indices; negative indices count from the end",
                        [DeclareOpInterfaceMethods<Graph_SymbolicOp>, Graph_SelectingOp]> {
  let arguments = (ins Graph_Tensor:$x, Graph_Tensor:$indices, I64Attr:$axis);
  let parallel_axes = "";
  let elements = [kAny, kInteger];
  let hasFolder = 1;
}

def GatherElementsOp : Graph_Op<"gather_elements", "elements of x along axis at indices",
                                [Graph_SelectingOp]> {
  let arguments = (ins Graph_Tensor:$x, Graph_Tensor:$indices, I64Attr:$axis);
  let parallel_axes = kAllButAxis;
  let elements = [kAny, kInteger];
}

def GatherNdOp : Graph_Op<"gather_nd", "slices of x at index tuples", [Graph_SelectingOp]> {
  let arguments = (ins Graph_Tensor:$x, Graph_Tensor:$indices, I64Attr:$batch_dims);
  let parallel_axes = "";
  let elements = [kAny, kInteger];
}

def Graph_ScatterReduction : Graph_Enum<"ScatterReduction",
                                        "how an update combines with the existing element", [
  I32EnumAttrCase<"kNone", 0, "none">, I32EnumAttrCase<"kAdd", 1, "add">,
  I32EnumAttrCase<"kMul", 2, "mul">, I32EnumAttrCase<"kMin", 3, "min">,
  I32EnumAttrCase<"kMax", 4, "max">]>;

def ScatterElementsOp : Graph_Op<"scatter_elements", "x with updates applied at indices along axis"> {
  let arguments = (ins Graph_Tensor:$x, Graph_Tensor:$indices, Graph_Tensor:$updates, I64Attr:$axis,
                       DefaultValuedAttr<Graph_EnumAttr<Graph_ScatterReduction>,
                                         "ScatterReduction::kNone">:$reduction);
  let parallel_axes = kAllButAxis;
  let elements = [kAny, kInteger, kAny];
}

def ScatterNdOp : Graph_Op<"scatter_nd", "x with updates applied at index tuples"> {
  let arguments = (ins Graph_Tensor:$x, Graph_Tensor:$indices, Graph_Tensor:$updates,
                       DefaultValuedAttr<Graph_EnumAttr<Graph_ScatterReduction>,
                                         "ScatterReduction::kNone">:$reduction);
  let elements = [kAny, kInteger, kAny];
}

// values is [off, on]. An index outside [-depth, depth) results in a row of off values.
def OneHotOp : Graph_Op<"one_hot", "a new axis with the value on at each index and off elsewhere"> {
  let arguments = (ins Graph_Tensor:$indices, Graph_Tensor:$values, Graph_Dims:$depth, I64Attr:$axis);
  let parallel_axes = "";
  let elements = [kInteger, kAny];
  let checks = kNoChecks;
}

// The result size of nonzero is data-dependent. Therefore count_nonzero runs first, and
// sv.read_dims defines a symbol with the value of `count`.

// x is divided into blocks of `block` elements. starts[i] is the number of nonzero elements before
// block i, and count is the total, a tensor of one element.
def CountNonzeroOp : Graph_Op<"count_nonzero", "numbers of nonzero elements before each block, and in total"> {
  let arguments = (ins Graph_Tensor:$x, DefaultValuedAttr<I64Attr, "4096">:$block);
  let results = (outs Graph_Tensor:$starts, Graph_Tensor:$count);
  let checks = kNoChecks;
}

// starts is the result of count_nonzero for the same x and block. The attribute count has one dim:
// that total.
def NonzeroOp : Graph_Op<"nonzero", "i64[rank, count]: indices of the nonzero elements, in order"> {
  let arguments = (ins Graph_Tensor:$x, Graph_Tensor:$starts, Graph_Dims:$count,
                       DefaultValuedAttr<I64Attr, "4096">:$block);
  let checks = kNoChecks;
}

def Graph_TreeScore : Graph_Enum<"TreeScore", "how the weights of several leaves combine", [
  I32EnumAttrCase<"kSum", 0, "sum">, I32EnumAttrCase<"kMin", 1, "min">,
  I32EnumAttrCase<"kMax", 2, "max">]>;

// Every row of x: [n, c] descends each tree depths[t] times, from the record that begins at element
// roots[t] of `nodes`. Trees are in the order of descending depths. A record has 4 elements if x is
// f32, and 6 if it is f64:
//   0       where the record for a true comparison begins; that for a false one is the one after it.
//           Records begin at even elements: if `follows_nan`, 1 is added if NaN is true
//   1       the feature. The comparison is x[row, feature] <= threshold
//   2 (3)   the bits of the threshold
//   3 (4)   the number of the leaf; 0 in other nodes
// A leaf leads to itself: its threshold is NaN, and its element 0 names the record before it, which
// is below 0 for the first record.
//
// Without entries, weights[leaf, column] is added to the score in each column, and `combine` is the
// sum. The entries are i32 starts and columns: a leaf adds weights[e] to the score in columns[e],
// for each e in [starts[leaf], starts[leaf + 1]). `combine` replaces the sum. A score without
// weights is the neutral value. Indices out of range are clamped.
def TreeScoresOp : Graph_Op<"tree_scores", "[n, width]: combined weights of the leaves that the rows of x reach in decision trees"> {
  let arguments = (ins Graph_Tensor:$x, Graph_Tensor:$nodes, Graph_Tensor:$roots,
                       Graph_Tensor:$depths, Graph_Tensor:$weights,
                       Variadic<Graph_Tensor>:$entries, I64Attr:$width,
                       DefaultValuedAttr<Graph_EnumAttr<Graph_TreeScore>, "TreeScore::kSum">:$combine,
                       DefaultValuedAttr<BoolAttr, "false">:$follows_nan);
  let parallel_axes = "leading_axes(*this, 1)";
  let elements = [kFloat, kInteger, kInteger, kInteger, kFloat, kInteger];
  let checks = kNoChecks;
  let declarations = [{
    // The number of elements of a record, by the element type of x.
    static constexpr int64_t recordSize(::scopevm::DType dtype) { return 2 * ::scopevm::byte_size(dtype) / 4 + 2; }
  }];
}

#endif
