// Ops that rearrange elements, and ops that create tensors: views, copies, padding, constants.
#ifndef SCOPEVM_GRAPH_LAYOUT_OPS
#define SCOPEVM_GRAPH_LAYOUT_OPS

include "compiler/graph/op_classes.td"
include "mlir/Interfaces/ViewLikeInterface.td"

// The result can share the storage of x.
defvar kViewOfX = "::mlir::Value getViewSource() { return getX(); }";
defvar Graph_Symbolic = DeclareOpInterfaceMethods<Graph_SymbolicOp>;

def TransposeOp : Graph_Op<"transpose", "result dim i is x dim permutation[i]", [Graph_Symbolic, Graph_SelectingOp]> {
  let arguments = (ins Graph_Tensor:$x, DenseI64ArrayAttr:$permutation);
  let parallel_axes = "";
  let elements = [kAny];
  let checks = kNoChecks;
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def ReshapeOp : Graph_Op<"reshape", "the elements of x with other dims; a view",
                         [Graph_Symbolic, Graph_SelectingOp, Graph_ProvidesStorage,
                          ViewLikeOpInterface]> {
  let arguments = (ins Graph_Tensor:$x, Graph_Dims:$dims);
  let elements = [kAny];
  let hasFolder = 1;
  let hasCanonicalizer = 1;
  let declarations = kViewOfX;
}

def ExpandOp : Graph_Op<"expand", "x broadcast to dims", [Graph_Symbolic, Graph_SelectingOp]> {
  let arguments = (ins Graph_Tensor:$x, Graph_Dims:$dims);
  let parallel_axes = "broadcast_axes(*this)";
  let elements = [kAny];
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def TileOp : Graph_Op<"tile", "x repeated along each dim", [Graph_Symbolic, Graph_SelectingOp]> {
  let arguments = (ins Graph_Tensor:$x, Graph_Dims:$repeats);
  let parallel_axes = "";
  let elements = [kAny];
  let checks = kNoChecks;
  let hasCanonicalizer = 1;
}

def ConcatOp : Graph_Op<"concat", "operands concatenated along axis", [Graph_Symbolic, Graph_SelectingOp]> {
  let arguments = (ins Variadic<Graph_Tensor>:$inputs, I64Attr:$axis);
  let parallel_axes = kAllButAxis;
  let elements = [kAny];
  let hasFolder = 1;
}

// Along axis i, result element k is element starts[i] + k * steps[i] of x, for k in [0, sizes[i]).
// Steps may be negative.
def SliceOp : Graph_Op<"slice", "a strided box of x",
                       [Graph_Symbolic, Graph_SelectingOp, ViewLikeOpInterface]> {
  let arguments = (ins Graph_Tensor:$x, Graph_Dims:$starts, Graph_Dims:$sizes, DenseI64ArrayAttr:$steps);
  let parallel_axes = "";
  let elements = [kAny];
  let hasFolder = 1;
  let hasCanonicalizer = 1;
  let declarations = kViewOfX;
}

// The elements of x along axis from `start` on are those of `part`. An input whose function updates
// it in place (rewrite/states.h) and the result share their storage.
def InsertSliceOp : Graph_Op<"insert_slice", "x with part in place of its elements from start on along axis"> {
  let arguments = (ins Graph_Tensor:$x, Graph_Tensor:$part, I64Attr:$axis, Graph_Dims:$start);
  let parallel_axes = kAllButAxis;
  let elements = [kAny];
}

def Graph_PadMode : Graph_Enum<"PadMode", "elements of the border", [
  I32EnumAttrCase<"kConstant", 0, "constant">, I32EnumAttrCase<"kReflect", 1, "reflect">,
  I32EnumAttrCase<"kEdge", 2, "edge">]>;

// `pads` lists the padding before each axis, then the padding after each axis. A negative entry
// crops. `value` is the scalar in a constant border.
def PadOp : Graph_Op<"pad", "x with padding",
                     [DeclareOpInterfaceMethods<Graph_SelectingOp, ["selectsElements"]>]> {
  let arguments = (ins Graph_Tensor:$x, Optional<Graph_Tensor>:$value, Graph_Dims:$pads,
                       Graph_EnumAttr<Graph_PadMode>:$mode);
  let parallel_axes = "";
  let elements = [kAny];
}

// The result has the axes of x without `second`. Its axis for `first` runs along the diagonal.
def DiagonalOp : Graph_Op<"diagonal", "the elements of x whose indices along two axes are equal",
                          [Graph_SelectingOp]> {
  let arguments = (ins Graph_Tensor:$x, I64Attr:$first, I64Attr:$second);
  let parallel_axes = "";
  let elements = [kAny];
}

// Keeps the elements on and above diagonal k if upper, else on and below it. Diagonal 0 is the main
// diagonal, and diagonal 1 is above it.
def TriluOp : Graph_Op<"trilu", "upper or lower triangle of x; other elements are 0"> {
  let arguments = (ins Graph_Tensor:$x, I64Attr:$k, BoolAttr:$upper);
  let parallel_axes = "leading_axes(*this, tensor_type(getX()).getRank() - 2)";
  let elements = [kAny];
  let checks = kNoChecks;
}

// `value` is a dense or dense_resource attribute. Its element type is ui8..ui64 for u8..u64, and i1
// for bool.
def ConstantOp : Graph_Op<"constant", "a tensor known at compile time",
                          [ConstantLike, Graph_Symbolic, Graph_ProvidesStorage]> {
  let arguments = (ins ElementsAttr:$value);
  let assemblyFormat = "attr-dict `:` type(results)";
  let checks = kNoChecks;
  let hasFolder = 1;
}

// Stores dims in a tensor, for a kernel or result that uses shape arithmetic as data.
def DimsTensorOp : Graph_Op<"dims_tensor", "dims as a tensor of element type `dtype`; rank 1, or 0 if scalar",
                            [Graph_Symbolic]> {
  let arguments = (ins Graph_Dims:$dims, DefaultValuedAttr<BoolAttr, "false">:$scalar,
                       DefaultValuedAttr<StrAttr, "\"i64\"">:$dtype);
  let checks = kNoChecks;
}

// The conversion of inputs and outputs of small types, whose elements can share bytes.
def UnpackBitsOp : Graph_Op<"unpack_bits", "the bits of each element of x, whose type is small, as u8"> {
  let arguments = (ins Graph_Tensor:$x);
  let parallel_axes = "equal_axes(*this)";
  let elements = [kSmall];
  let rule = "rule.add_result(DType::kU8, tensor_type(op.getX()).getShape())";
  let checks = kNoChecks;
}

def PackBitsOp : Graph_Op<"pack_bits", "elements of the small type `to` with the lowest bits of the u8 elements of x"> {
  let parallel_axes = "equal_axes(*this)";
  let arguments = (ins Graph_Tensor:$x, StrAttr:$to);
  let checks = kNoChecks;
}

def IotaOp : Graph_Op<"iota", "start + step * i for i in [0, size)", [Graph_Symbolic]> {
  let arguments = (ins Graph_Dims:$size, TypedAttrInterface:$start, TypedAttrInterface:$step,
                       StrAttr:$dtype);
  let checks = kNoChecks;
}

#endif
