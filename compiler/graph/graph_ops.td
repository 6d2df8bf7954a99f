// The graph ops, one row each. A row's class gives its operands, its printer and parser, and its
// type rule; the row itself adds name, summary and attributes. docs/ops.md and the coverage test
// derive from this file.
//
// A type rule is a function of infer.h: from operand types and attributes to result types. Building
// an op without result types computes them; the verifier compares.
#ifndef SCOPEVM_GRAPH_OPS
#define SCOPEVM_GRAPH_OPS

include "compiler/graph/graph_dialect.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"

class Graph_Op<string mnemonic, string summary_, string rule, list<Trait> traits = []>
    : Op<Graph_Dialect, mnemonic,
         !listconcat(traits, [Pure, DeclareOpInterfaceMethods<InferTypeOpInterface>])> {
  let summary = summary_;
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
  let results = (outs Graph_Tensor:$result);
  let extraClassDeclaration = [{
    static bool isCompatibleReturnTypes(::mlir::TypeRange inferred, ::mlir::TypeRange actual);
  }];
  let extraClassDefinition = [{
    ::llvm::LogicalResult $cppClass::inferReturnTypes(
        ::mlir::MLIRContext *context, ::std::optional<::mlir::Location> location,
        ::mlir::ValueRange operands, ::mlir::DictionaryAttr attributes,
        ::mlir::OpaqueProperties properties, ::mlir::RegionRange regions,
        ::llvm::SmallVectorImpl<::mlir::Type> &types) {
      $cppClass::Adaptor op(operands, attributes, properties, regions);
      ::scopevm::compiler::graph::TypeRule rule{context, location, "}] # mnemonic # [{", types};
      if (failed(rule.check_texts(operands))) return ::mlir::failure();
      return ::scopevm::compiler::graph::}] # rule # [{;
    }
    bool $cppClass::isCompatibleReturnTypes(::mlir::TypeRange inferred, ::mlir::TypeRange actual) {
      return ::scopevm::compiler::graph::equal_but_for_place(inferred, actual);
    }
  }];
}

// --- Elementwise. Operands broadcast as NumPy does. ---------------------------------------------
class Graph_Unary<string mnemonic, string summary>
    : Graph_Op<mnemonic, summary, "inferElementwise(rule, operands)"> {
  let arguments = (ins Graph_Tensor:$x);
}
class Graph_Binary<string mnemonic, string summary>
    : Graph_Op<mnemonic, summary, "inferElementwise(rule, operands)"> {
  let arguments = (ins Graph_Tensor:$a, Graph_Tensor:$b);
}
class Graph_Test<string mnemonic, string summary>  // unary, to bool
    : Graph_Op<mnemonic, summary, "inferComparison(rule, operands)"> {
  let arguments = (ins Graph_Tensor:$x);
}
class Graph_Compare<string mnemonic, string summary>  // binary, to bool
    : Graph_Op<mnemonic, summary, "inferComparison(rule, operands)"> {
  let arguments = (ins Graph_Tensor:$a, Graph_Tensor:$b);
}

def AbsOp : Graph_Unary<"abs", "|x|">;
def NegOp : Graph_Unary<"neg", "-x">;
def ExpOp : Graph_Unary<"exp", "e to the x">;
def LogOp : Graph_Unary<"log", "natural logarithm">;
def SqrtOp : Graph_Unary<"sqrt", "square root">;
def ReciprocalOp : Graph_Unary<"reciprocal", "1 / x">;
def SinOp : Graph_Unary<"sin", "sine">;
def CosOp : Graph_Unary<"cos", "cosine">;
def TanOp : Graph_Unary<"tan", "tangent">;
def AsinOp : Graph_Unary<"asin", "arc sine">;
def AcosOp : Graph_Unary<"acos", "arc cosine">;
def AtanOp : Graph_Unary<"atan", "arc tangent">;
def SinhOp : Graph_Unary<"sinh", "hyperbolic sine">;
def CoshOp : Graph_Unary<"cosh", "hyperbolic cosine">;
def TanhOp : Graph_Unary<"tanh", "hyperbolic tangent">;
def AsinhOp : Graph_Unary<"asinh", "inverse hyperbolic sine">;
def AcoshOp : Graph_Unary<"acosh", "inverse hyperbolic cosine">;
def AtanhOp : Graph_Unary<"atanh", "inverse hyperbolic tangent">;
def ErfOp : Graph_Unary<"erf", "error function">;
def CeilOp : Graph_Unary<"ceil", "least integer not below x">;
def FloorOp : Graph_Unary<"floor", "greatest integer not above x">;
def RoundOp : Graph_Unary<"round", "nearest integer, halves to even">;
def SignOp : Graph_Unary<"sign", "-1, 0 or 1">;
def SigmoidOp : Graph_Unary<"sigmoid", "1 / (1 + e^-x)">;
def ReluOp : Graph_Unary<"relu", "max(x, 0); NaN stays NaN">;
def SoftplusOp : Graph_Unary<"softplus", "log(1 + e^x)">;
def LogicalNotOp : Graph_Unary<"not", "logical negation of bool">;
def BitNotOp : Graph_Unary<"bit_not", "bitwise complement">;
def IsNanOp : Graph_Test<"is_nan", "x is NaN">;
def IsInfOp : Graph_Test<"is_inf", "x is infinite, of the chosen signs"> {
  let arguments = (ins Graph_Tensor:$x, DefaultValuedAttr<BoolAttr, "true">:$negative,
                       DefaultValuedAttr<BoolAttr, "true">:$positive);
}

def AddOp : Graph_Binary<"add", "a + b">;
def SubOp : Graph_Binary<"sub", "a - b">;
def MulOp : Graph_Binary<"mul", "a * b">;
def DivOp : Graph_Binary<"div", "a / b; integers round towards zero, and x / 0 is 0">;
def ModOp : Graph_Binary<"mod", "remainder with the divisor's sign">;
def FmodOp : Graph_Binary<"fmod", "remainder with the dividend's sign">;
def PowOp : Graph_Op<"pow", "a to the b, in a's type", "inferPow(rule, operands)"> {
  let arguments = (ins Graph_Tensor:$a, Graph_Tensor:$b);
}
def MinOp : Graph_Binary<"min", "the lesser; NaN wins">;
def MaxOp : Graph_Binary<"max", "the greater; NaN wins">;
def AndOp : Graph_Binary<"and", "logical and of bools">;
def OrOp : Graph_Binary<"or", "logical or of bools">;
def XorOp : Graph_Binary<"xor", "logical exclusive or of bools">;
def BitAndOp : Graph_Binary<"bit_and", "bitwise and">;
def BitOrOp : Graph_Binary<"bit_or", "bitwise or">;
def BitXorOp : Graph_Binary<"bit_xor", "bitwise exclusive or">;
def ShiftLeftOp : Graph_Binary<"shift_left", "a shifted left by b bits">;
def ShiftRightOp : Graph_Binary<"shift_right", "unsigned a shifted right by b bits">;
def EqualOp : Graph_Compare<"equal", "a == b">;
def LessOp : Graph_Compare<"less", "a < b">;
def LessEqualOp : Graph_Compare<"less_equal", "a <= b">;
def GreaterOp : Graph_Compare<"greater", "a > b">;
def GreaterEqualOp : Graph_Compare<"greater_equal", "a >= b">;

def SelectOp : Graph_Op<"select", "condition ? a : b", "inferSelect(rule, operands)"> {
  let arguments = (ins Graph_Tensor:$condition, Graph_Tensor:$a, Graph_Tensor:$b);
}
def CastOp : Graph_Op<"cast", "x in element type `to`; floats to integers round towards zero",
                      "inferCast(rule, op.getX(), op.getTo())"> {
  let arguments = (ins Graph_Tensor:$x, StrAttr:$to);
}

// --- Reductions and rows. Axes are in [0, rank), ascending. --------------------------------------
class Graph_Reduce<string mnemonic, string summary>
    : Graph_Op<mnemonic, summary, "inferReduce(rule, op.getX(), op.getAxes(), op.getKeepDims())"> {
  let arguments = (ins Graph_Tensor:$x, DenseI64ArrayAttr:$axes,
                       DefaultValuedAttr<BoolAttr, "true">:$keep_dims);
}
def ReduceSumOp : Graph_Reduce<"reduce_sum", "sum over axes">;
def ReduceMeanOp : Graph_Reduce<"reduce_mean", "mean over axes">;
def ReduceProdOp : Graph_Reduce<"reduce_prod", "product over axes">;
def ReduceMaxOp : Graph_Reduce<"reduce_max", "greatest over axes">;
def ReduceMinOp : Graph_Reduce<"reduce_min", "least over axes">;

class Graph_ArgReduce<string mnemonic, string summary>
    : Graph_Op<mnemonic, summary, "inferArgReduce(rule, op.getX(), op.getAxis(), op.getKeepDims())"> {
  let arguments = (ins Graph_Tensor:$x, I64Attr:$axis,
                       DefaultValuedAttr<BoolAttr, "true">:$keep_dims,
                       DefaultValuedAttr<BoolAttr, "false">:$last);
}
def ArgMaxOp : Graph_ArgReduce<"arg_max", "i64 index of the greatest along axis; first, or last, of equals">;
def ArgMinOp : Graph_ArgReduce<"arg_min", "i64 index of the least along axis; first, or last, of equals">;

class Graph_AlongAxis<string mnemonic, string summary>
    : Graph_Op<mnemonic, summary, "inferSame(rule, op.getX())"> {
  let arguments = (ins Graph_Tensor:$x, I64Attr:$axis);
}
def SoftmaxOp : Graph_AlongAxis<"softmax", "e^x / sum e^x along axis">;
def LogSoftmaxOp : Graph_AlongAxis<"log_softmax", "log of softmax along axis">;
def CumSumOp : Graph_AlongAxis<"cum_sum", "running sum along axis"> {
  let arguments = (ins Graph_Tensor:$x, I64Attr:$axis, DefaultValuedAttr<BoolAttr, "false">:$exclusive,
                       DefaultValuedAttr<BoolAttr, "false">:$reverse);
}
// Normalises over dims axis .. rank-1; scale and bias have those dims (or broadcast to them).
def LayerNormOp : Graph_Op<"layer_norm", "(x - mean) / sqrt(var + epsilon) * scale + bias",
                           "inferSame(rule, op.getX())"> {
  let arguments = (ins Graph_Tensor:$x, Graph_Tensor:$scale, Optional<Graph_Tensor>:$bias,
                       I64Attr:$axis, F32Attr:$epsilon);
}

// --- Contractions. ------------------------------------------------------------------------------
def MatMulOp : Graph_Op<"matmul",
                        "matrix product; leading dims broadcast, rank 1 as NumPy; of i8 and u8 in i32",
                        "inferMatMul(rule, op.getA(), op.getB(), op.getTransposeA(), op.getTransposeB())"> {
  let arguments = (ins Graph_Tensor:$a, Graph_Tensor:$b,
                       DefaultValuedAttr<BoolAttr, "false">:$transpose_a,
                       DefaultValuedAttr<BoolAttr, "false">:$transpose_b);
}
def DetOp : Graph_Op<"det", "determinant of the matrices in the last two dims", "inferDet(rule, op.getX())"> {
  let arguments = (ins Graph_Tensor:$x);
}
// x: [n, c, spatial...], w: [m, c/group, kernel...], bias: [m]. pads: begins, then ends.
def ConvOp : Graph_Op<"conv", "convolution (cross-correlation)", "inferConv(rule, op)"> {
  let arguments = (ins Graph_Tensor:$x, Graph_Tensor:$w, Optional<Graph_Tensor>:$bias,
                       DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$pads,
                       DenseI64ArrayAttr:$dilations, I64Attr:$group);
}
// w: [c, m/group, kernel...].
def ConvTransposeOp : Graph_Op<"conv_transpose", "transposed convolution", "inferConvTranspose(rule, op)"> {
  let arguments = (ins Graph_Tensor:$x, Graph_Tensor:$w, Optional<Graph_Tensor>:$bias,
                       DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$pads,
                       DenseI64ArrayAttr:$dilations, DenseI64ArrayAttr:$output_pads, I64Attr:$group);
}

// --- Windows. -----------------------------------------------------------------------------------
def MaxPoolOp : Graph_Op<"max_pool", "greatest in each window", "inferPool(rule, op)"> {
  let arguments = (ins Graph_Tensor:$x, DenseI64ArrayAttr:$kernel, DenseI64ArrayAttr:$strides,
                       DenseI64ArrayAttr:$pads, DenseI64ArrayAttr:$dilations,
                       DefaultValuedAttr<BoolAttr, "false">:$ceil_mode);
}
def AveragePoolOp : Graph_Op<"average_pool", "mean of each window", "inferPool(rule, op)"> {
  let arguments = (ins Graph_Tensor:$x, DenseI64ArrayAttr:$kernel, DenseI64ArrayAttr:$strides,
                       DenseI64ArrayAttr:$pads, DenseI64ArrayAttr:$dilations,
                       DefaultValuedAttr<BoolAttr, "false">:$ceil_mode,
                       DefaultValuedAttr<BoolAttr, "false">:$count_pads);
}

// Indices count the elements of all of x; within a plane row by row, or by column with the first
// spatial dim fastest.
def MaxPoolIndicesOp : Graph_Op<"max_pool_indices", "greatest in each window, and its i64 index in x",
                                "inferPool(rule, op)"> {
  let arguments = (ins Graph_Tensor:$x, DenseI64ArrayAttr:$kernel, DenseI64ArrayAttr:$strides,
                       DenseI64ArrayAttr:$pads, DenseI64ArrayAttr:$dilations,
                       DefaultValuedAttr<BoolAttr, "false">:$ceil_mode,
                       DefaultValuedAttr<BoolAttr, "false">:$by_column);
  let results = (outs Graph_Tensor:$values, Graph_Tensor:$indices);
}
// x: [n, c, h, w], boxes: [k, 4] as x1, y1, x2, y2, images: i64[k]. A box is scaled and moved by
// offset, and has at least min_size a side. Each cell of its grid takes samples x samples points; 0
// samples: as many as the cell has elements.
def RoiAlignOp : Graph_Op<"roi_align", "boxes of x, each resampled to a grid", "inferRoiAlign(rule, op)"> {
  let arguments = (ins Graph_Tensor:$x, Graph_Tensor:$boxes, Graph_Tensor:$images, I64Attr:$height,
                       I64Attr:$width, I64Attr:$samples, F32Attr:$scale, F32Attr:$offset,
                       F32Attr:$min_size, DefaultValuedAttr<BoolAttr, "false">:$greatest);
}

// --- Movement. ----------------------------------------------------------------------------------
def TransposeOp : Graph_Op<"transpose", "result dim i is x dim permutation[i]", "inferTranspose(rule, op)"> {
  let arguments = (ins Graph_Tensor:$x, DenseI64ArrayAttr:$permutation);
}
def ReshapeOp : Graph_Op<"reshape", "the same elements under other dims; a view", "inferReshape(rule, op)"> {
  let arguments = (ins Graph_Tensor:$x, Graph_Dims:$dims);
}
def ExpandOp : Graph_Op<"expand", "broadcast to dims", "inferExpand(rule, op)"> {
  let arguments = (ins Graph_Tensor:$x, Graph_Dims:$dims);
}
def ConcatOp : Graph_Op<"concat", "operands one after the other along axis", "inferConcat(rule, operands, op.getAxis())"> {
  let arguments = (ins Variadic<Graph_Tensor>:$inputs, I64Attr:$axis);
}
// Result dim i is x dim starts[i] + k * steps[i], k in [0, sizes[i]); steps may be negative.
def SliceOp : Graph_Op<"slice", "a strided box of x", "inferSlice(rule, op)"> {
  let arguments = (ins Graph_Tensor:$x, Graph_Dims:$starts, Graph_Dims:$sizes, DenseI64ArrayAttr:$steps);
}
// pads: begins, then ends; negative ones crop. mode: constant (value, a scalar), reflect, edge.
def PadOp : Graph_Op<"pad", "x with a border", "inferPad(rule, op)"> {
  let arguments = (ins Graph_Tensor:$x, Optional<Graph_Tensor>:$value, Graph_Dims:$pads, StrAttr:$mode);
}
def GatherOp : Graph_Op<"gather", "slices of x along axis at indices; negative ones count from the end",
                        "inferGather(rule, op)"> {
  let arguments = (ins Graph_Tensor:$x, Graph_Tensor:$indices, I64Attr:$axis);
}
def GatherElementsOp : Graph_Op<"gather_elements", "elements of x along axis at indices",
                                "inferGatherElements(rule, op)"> {
  let arguments = (ins Graph_Tensor:$x, Graph_Tensor:$indices, I64Attr:$axis);
}
def GatherNdOp : Graph_Op<"gather_nd", "slices of x at index tuples", "inferGatherNd(rule, op)"> {
  let arguments = (ins Graph_Tensor:$x, Graph_Tensor:$indices, I64Attr:$batch_dims);
}
// reduction: none, add, mul, min, max.
def ScatterElementsOp : Graph_Op<"scatter_elements", "x with updates at indices along axis",
                                 "inferScatterElements(rule, op)"> {
  let arguments = (ins Graph_Tensor:$x, Graph_Tensor:$indices, Graph_Tensor:$updates, I64Attr:$axis,
                       DefaultValuedAttr<StrAttr, "\"none\"">:$reduction);
}
def ScatterNdOp : Graph_Op<"scatter_nd", "x with updates at index tuples", "inferScatterNd(rule, op)"> {
  let arguments = (ins Graph_Tensor:$x, Graph_Tensor:$indices, Graph_Tensor:$updates,
                       DefaultValuedAttr<StrAttr, "\"none\"">:$reduction);
}
def TileOp : Graph_Op<"tile", "x repeated along each dim", "inferTile(rule, op)"> {
  let arguments = (ins Graph_Tensor:$x, Graph_Dims:$repeats);
}
// values: [off, on]. Indices outside [-depth, depth) give off everywhere.
def OneHotOp : Graph_Op<"one_hot", "on at each index along a new axis, off elsewhere", "inferOneHot(rule, op)"> {
  let arguments = (ins Graph_Tensor:$indices, Graph_Tensor:$values, Graph_Dims:$depth, I64Attr:$axis);
}
def TriluOp : Graph_Op<"trilu", "upper or lower triangle, other elements 0", "inferSame(rule, op.getX())"> {
  let arguments = (ins Graph_Tensor:$x, I64Attr:$k, BoolAttr:$upper);
}
// mode: nearest, linear, cubic; coordinates and rounding as in ONNX Resize.
def ResizeOp : Graph_Op<"resize", "x resampled to dims", "inferResize(rule, op)"> {
  let arguments = (ins Graph_Tensor:$x, Graph_Dims:$dims, DenseF32ArrayAttr:$scales, StrAttr:$mode,
                       StrAttr:$coordinates, StrAttr:$rounding,
                       DefaultValuedAttr<F32Attr, "-0.75f">:$cubic_coeff,
                       DefaultValuedAttr<BoolAttr, "false">:$exclude_outside,
                       DefaultValuedAttr<F32Attr, "0.0f">:$extrapolation);
}
def TopKOp : Graph_Op<"top_k", "the k greatest or least along axis, sorted, and their i64 indices",
                      "inferTopK(rule, op)"> {
  let arguments = (ins Graph_Tensor:$x, Graph_Dims:$k, I64Attr:$axis, BoolAttr:$largest);
  let results = (outs Graph_Tensor:$values, Graph_Tensor:$indices);
}
def IotaOp : Graph_Op<"iota", "start + step * i for i in [0, size)", "inferIota(rule, op)"> {
  let arguments = (ins Graph_Dims:$size, TypedAttrInterface:$start, TypedAttrInterface:$step, StrAttr:$dtype);
}
// x: [n, c] of integers or texts. pool, rank 1: n-grams one after the other, those of length i + 1 from element
// starts[i] on; n-gram k of the pool adds weights[k] (without weights: 1) to column columns[k] each
// time that a row has it, or `once` when the row has it at all. Only lengths min_length..max_length
// count. The elements of an n-gram lie apart by one distance, at most skips + 1.
def CountNgramsOp : Graph_Op<"count_ngrams", "f32[n, columns]: how often each row has each n-gram",
                             "inferCountNgrams(rule, op)"> {
  let arguments = (ins Graph_Tensor:$x, ElementsAttr:$pool, DenseI64ArrayAttr:$starts,
                       DenseI64ArrayAttr:$columns, DenseF32ArrayAttr:$weights, I64Attr:$min_length,
                       I64Attr:$max_length, DefaultValuedAttr<I64Attr, "0">:$skips,
                       DefaultValuedAttr<BoolAttr, "false">:$once);
}

// --- Texts. Run by the VM itself; other ops that take str only move it. --------------------------
def ParseTextOp : Graph_Op<"parse_text", "the numbers that texts spell, in element type `to`",
                           "inferParseText(rule, op.getX(), op.getTo())"> {
  let arguments = (ins Graph_Tensor:$x, StrAttr:$to);
}
def FormatTextOp : Graph_Op<"format_text", "numbers as texts, with the fewest digits that tell them apart",
                            "inferFormatText(rule, op.getX())"> {
  let arguments = (ins Graph_Tensor:$x);
}
def ChangeCaseOp : Graph_Op<"change_case", "texts in lower case, or upper",
                            "inferChangeCase(rule, op.getX())"> {
  let arguments = (ins Graph_Tensor:$x, DefaultValuedAttr<BoolAttr, "false">:$upper);
}

// --- Sizes that depend on data. -----------------------------------------------------------------
//
// Each counts first; sv.read_dims makes a dim of the count, and what follows has that size.

// starts[i]: how many are before block i of `block` elements; count: of all, one element.
def CountNonzeroOp : Graph_Op<"count_nonzero", "how many elements are not 0, block by block",
                              "inferCountNonzero(rule, op)"> {
  let arguments = (ins Graph_Tensor:$x, DefaultValuedAttr<I64Attr, "4096">:$block);
  let results = (outs Graph_Tensor:$starts, Graph_Tensor:$count);
}
// starts: from count_nonzero of the same x and block, whose count is the one dim of `count`.
def NonzeroOp : Graph_Op<"nonzero", "i64[rank, count]: indices of the elements that are not 0, in order",
                         "inferNonzero(rule, op)"> {
  let arguments = (ins Graph_Tensor:$x, Graph_Tensor:$starts, Graph_Dims:$count,
                       DefaultValuedAttr<I64Attr, "4096">:$block);
}
// x: [n, width]. Rows compare element by element; NaN is above all numbers; equal rows stay in order.
def SortRowsOp : Graph_Op<"sort_rows", "i64[n]: the rows of x in ascending order",
                          "inferSortRows(rule, op)"> {
  let arguments = (ins Graph_Tensor:$x);
}
// x: [n, width]; order: its sort_rows. All results are i64: the first row of each group of equal
// rows, the group of each row, the size of each group, and the number of groups, one element; of
// first and sizes only that many of the n elements are written. Groups are in the order of `order`,
// or by_first: of their first rows.
def UniqueRowsOp : Graph_Op<"unique_rows", "groups of equal rows", "inferUniqueRows(rule, op)"> {
  let arguments = (ins Graph_Tensor:$x, Graph_Tensor:$order,
                       DefaultValuedAttr<BoolAttr, "false">:$by_first);
  let results = (outs Graph_Tensor:$first, Graph_Tensor:$group, Graph_Tensor:$sizes, Graph_Tensor:$count);
}
// boxes: f32[batch, n, 4], two corners (y, x, y, x), or when centered (x, y, width, height). scores:
// f32[batch, class, n] in descending order; order: i64, the box of each score. Thresholds: one f32.
// For each class the best boxes above score_threshold that overlap none better by more than
// iou_threshold, at most `limit`: selected is i64[batch, class, min(limit, n)], of which counts,
// i64[batch, class], are written.
def SuppressBoxesOp : Graph_Op<"suppress_boxes", "non-maximum suppression", "inferSuppressBoxes(rule, op)"> {
  let arguments = (ins Graph_Tensor:$boxes, Graph_Tensor:$scores, Graph_Tensor:$order,
                       Graph_Tensor:$iou_threshold, Graph_Tensor:$score_threshold, Graph_Dims:$limit,
                       DefaultValuedAttr<BoolAttr, "false">:$centered);
  let results = (outs Graph_Tensor:$selected, Graph_Tensor:$counts);
}

// --- Values. ------------------------------------------------------------------------------------
// value: a dense or dense_resource elements attribute; u8..u64 as ui8..ui64, bool as i1.
def ConstantOp : Graph_Op<"constant", "a tensor known at compile time", "inferConstant(rule, op.getValue())"> {
  let arguments = (ins ElementsAttr:$value);
  let assemblyFormat = "attr-dict `:` type(results)";
}
// Shape arithmetic that a kernel or a result needs as a tensor.
def DimsTensorOp : Graph_Op<"dims_tensor", "i64 (or dtype) tensor of dims; rank 1, or 0 when scalar",
                            "inferDimsTensor(rule, op)"> {
  let arguments = (ins Graph_Dims:$dims, DefaultValuedAttr<BoolAttr, "false">:$scalar,
                       DefaultValuedAttr<StrAttr, "\"i64\"">:$dtype);
}

// --- Places: "gpu" is a device, "gpu.global.workspace" a scope of it. ------------------------------
//
// A demand of the one who wrote the graph; placement fulfils it and erases the op. constrain_body: x
// is stored at the place. constrain_result: what reads the result reads it there.
def OnDeviceOp : Graph_Op<"on_device", "x, stored or read at a place", "inferElementwise(rule, operands)"> {
  let arguments = (ins Graph_Tensor:$x, StrAttr:$place,
                       DefaultValuedAttr<BoolAttr, "true">:$constrain_body,
                       DefaultValuedAttr<BoolAttr, "false">:$constrain_result);
}
// from: where x must lie; without it, anywhere.
def DeviceCopyOp : Graph_Op<"device_copy", "x in other memory", "inferElementwise(rule, operands)"> {
  let arguments = (ins Graph_Tensor:$x, StrAttr:$to, OptionalAttr<StrAttr>:$from);
}

// --- Structure. ---------------------------------------------------------------------------------
// What becomes one kernel. The body sees the operands as block arguments and nothing else; its ops
// are graph ops; a contraction, if there is one, is the first and the rest is its epilogue.
def GroupOp : Op<Graph_Dialect, "group", [IsolatedFromAbove, Pure,
                 SingleBlockImplicitTerminator<"YieldOp">]> {
  let summary = "ops fused into one kernel";
  let arguments = (ins Variadic<Graph_Tensor>:$inputs);
  let results = (outs Variadic<Graph_Tensor>:$outputs);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}
def Graph_Value : AnyTypeOf<[Graph_Tensor, Graph_List, Graph_Closure]>;

def YieldOp : Op<Graph_Dialect, "yield", [Pure, Terminator, ReturnLike,
                 ParentOneOf<["GroupOp", "IfOp", "LoopOp"]>]> {
  let summary = "results of a region";
  let arguments = (ins Variadic<Graph_Value>:$values);
  let builders = [OpBuilder<(ins), [{ build($_builder, $_state, ::mlir::ValueRange()); }]>];
  let assemblyFormat = "attr-dict ($values^ `:` type($values))?";
}

// --- Control flow. Regions read values of the blocks around them. --------------------------------
//
// Symbols whose names start with `$` are born in the op that lists them, and are known once it has
// run. All symbols are at least 0.

// Element i of x becomes symbols[i]. When is_signed, an element is symbols[i] - symbols[i].neg, one
// of which is 0; else one below 0 fails the call. x: integers or bools, rank 0 or 1.
def ReadDimsOp : Op<Graph_Dialect, "read_dims", [MemoryEffects<[MemWrite]>]> {
  let summary = "elements of x become symbols";
  let arguments = (ins Graph_Tensor:$x, StrArrayAttr:$symbols,
                       DefaultValuedAttr<BoolAttr, "false">:$is_signed);
  let assemblyFormat = "operands attr-dict `:` type(operands)";
  let hasVerifier = 1;
}
// dims: two, a and b. kind: equal, or at_least (a >= b). In `message` {0} and {1} stand for what
// they are.
def RequireOp : Op<Graph_Dialect, "require", [MemoryEffects<[MemWrite]>]> {
  let summary = "fails the call where the dims do not hold";
  let arguments = (ins Graph_Dims:$dims, StrAttr:$kind, StrAttr:$message);
  let assemblyFormat = "attr-dict";
  let hasVerifier = 1;
}
// The call fails with `message` unless the condition, one bool, holds.
def AssertOp : Op<Graph_Dialect, "assert", [MemoryEffects<[MemWrite]>]> {
  let summary = "fails unless the condition holds";
  let arguments = (ins Graph_Tensor:$condition, StrAttr:$message);
  let assemblyFormat = "operands attr-dict `:` type(operands)";
  let hasVerifier = 1;
}
// condition: one bool. `symbols` lists the result dims that are known only afterwards.
def IfOp : Op<Graph_Dialect, "if", [RecursiveMemoryEffects,
              SingleBlockImplicitTerminator<"YieldOp">]> {
  let summary = "one of two regions";
  let arguments = (ins Graph_Tensor:$condition,
                       DefaultValuedAttr<StrArrayAttr, "{}">:$symbols);
  let results = (outs Variadic<Graph_Value>:$outputs);
  let regions = (region SizedRegion<1>:$then, SizedRegion<1>:$otherwise);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results) $then `else` $otherwise";
  let hasVerifier = 1;
}
// Runs the body at most trip_count times (no dims: without limit). Iteration `index` counts from 0.
// Body arguments are the carried values. The body yields, in order: when has_condition, a bool (go
// on?), the carried values of the next iteration, then the iteration's parts of the outputs that
// gather. Results are the last carried values, then what was gathered, one more dim in front:
// trip_count, or with a condition a symbol of `symbols`.
// `carried_symbols` are dims of body arguments that differ from iteration to iteration.
def LoopOp : Op<Graph_Dialect, "loop", [RecursiveMemoryEffects,
                SingleBlockImplicitTerminator<"YieldOp">]> {
  let summary = "repeats its region";
  let arguments = (ins Variadic<Graph_Value>:$initial, Graph_Dims:$trip_count, StrAttr:$index,
                       DefaultValuedAttr<BoolAttr, "false">:$has_condition,
                       DefaultValuedAttr<StrArrayAttr, "{}">:$carried_symbols,
                       DefaultValuedAttr<StrArrayAttr, "{}">:$symbols);
  let results = (outs Variadic<Graph_Value>:$outputs);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results) $body";
  let hasVerifier = 1;
}

// --- Calls. -------------------------------------------------------------------------------------
//
// Names in the dims of the callee's parameters are bound to the arguments' dims. `symbols` names
// what the callee's results have beside: each of their dims that the arguments do not decide, in
// order of appearance.
def CallOp : Op<Graph_Dialect, "call", [MemoryEffects<[MemWrite]>,
                DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "runs a function";
  let arguments = (ins FlatSymbolRefAttr:$callee, Variadic<Graph_Value>:$arguments,
                       DefaultValuedAttr<StrArrayAttr, "{}">:$symbols);
  let results = (outs Variadic<Graph_Value>:$outputs);
  let assemblyFormat = "$callee `(` $arguments `)` attr-dict `:` functional-type($arguments, results)";
}
// The result's signature is that of the callee without the parameters that `captured` binds.
def ClosureOp : Op<Graph_Dialect, "closure", [Pure,
                   DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "a function with its first parameters bound";
  let arguments = (ins FlatSymbolRefAttr:$callee, Variadic<Graph_Tensor>:$captured);
  let results = (outs Graph_Closure:$result);
  let assemblyFormat = "$callee `(` $captured `)` attr-dict `:` functional-type($captured, results)";
}
def CallClosureOp : Op<Graph_Dialect, "call_closure", [MemoryEffects<[MemWrite]>]> {
  let summary = "runs the function of a closure";
  let arguments = (ins Graph_Closure:$closure, Variadic<Graph_Value>:$arguments,
                       DefaultValuedAttr<StrArrayAttr, "{}">:$symbols);
  let results = (outs Variadic<Graph_Value>:$outputs);
  let assemblyFormat = "$closure `(` $arguments `)` attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

// --- Lists: sequences, and optionals as lists of one element or none. --------------------------------
//
// An index counts from the start, or when below 0 from the end; one that is out of range fails the
// call. What an op gives is a list of its own: those that it came from stay as they were.
class Graph_ListOp<string mnemonic, string summary_, list<Trait> traits>
    : Op<Graph_Dialect, mnemonic, traits> {
  let summary = summary_;
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}
def ListOp : Graph_ListOp<"list", "a list of the operands", [Pure]> {
  let arguments = (ins Variadic<Graph_Value>:$elements);
  let results = (outs Graph_List:$result);
}
// Dims that the list's type does not give are names of `symbols`.
def ListGetOp : Graph_ListOp<"list_get", "an element of a list", [MemoryEffects<[MemWrite]>]> {
  let arguments = (ins Graph_List:$list, Graph_Dims:$index,
                       DefaultValuedAttr<StrArrayAttr, "{}">:$symbols);
  let results = (outs Graph_Value:$result);
}
// Without an index: behind the last.
def ListInsertOp : Graph_ListOp<"list_insert", "a list with an element before index",
                                [MemoryEffects<[MemWrite]>]> {
  let arguments = (ins Graph_List:$list, Graph_Value:$element, Graph_Dims:$index);
  let results = (outs Graph_List:$result);
}
def ListEraseOp : Graph_ListOp<"list_erase", "a list without element index",
                               [MemoryEffects<[MemWrite]>]> {
  let arguments = (ins Graph_List:$list, Graph_Dims:$index);
  let results = (outs Graph_List:$result);
}
def ListSizeOp : Graph_ListOp<"list_size", "the number of elements becomes a symbol",
                              [MemoryEffects<[MemWrite]>]> {
  let arguments = (ins Graph_List:$list, StrAttr:$symbol);
}

#endif
