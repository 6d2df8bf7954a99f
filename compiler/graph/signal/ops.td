// Ops on sampled signals.
#ifndef SCOPEVM_GRAPH_SIGNAL_OPS
#define SCOPEVM_GRAPH_SIGNAL_OPS

include "compiler/graph/op_classes.td"

def Graph_ResizeMode : Graph_Enum<"ResizeMode", "interpolation", [
  I32EnumAttrCase<"kNearest", 0, "nearest">, I32EnumAttrCase<"kLinear", 1, "linear">,
  I32EnumAttrCase<"kCubic", 2, "cubic">]>;
def Graph_ResizeCoordinates : Graph_Enum<"ResizeCoordinates", "mapping of result coordinates to x", [
  I32EnumAttrCase<"kHalfPixel", 0, "half_pixel">,
  I32EnumAttrCase<"kHalfPixelSymmetric", 1, "half_pixel_symmetric">,
  I32EnumAttrCase<"kPytorchHalfPixel", 2, "pytorch_half_pixel">,
  I32EnumAttrCase<"kAlignCorners", 3, "align_corners">,
  I32EnumAttrCase<"kAsymmetric", 4, "asymmetric">,
  I32EnumAttrCase<"kTfHalfPixelForNn", 5, "tf_half_pixel_for_nn">]>;
def Graph_ResizeRounding : Graph_Enum<"ResizeRounding", "rounding of nearest coordinates", [
  I32EnumAttrCase<"kRoundPreferFloor", 0, "round_prefer_floor">,
  I32EnumAttrCase<"kRoundPreferCeil", 1, "round_prefer_ceil">,
  I32EnumAttrCase<"kFloor", 2, "floor">, I32EnumAttrCase<"kCeil", 3, "ceil">]>;

// The attributes except dims are defined as in ONNX Resize. If scales is empty, the scale of an
// axis is the quotient of its dims.
def ResizeOp : Graph_Op<"resize", "x resampled to dims",
                        [DeclareOpInterfaceMethods<Graph_SelectingOp, ["selectsElements"]>]> {
  let arguments = (ins Graph_Tensor:$x, Graph_Dims:$dims, DenseF32ArrayAttr:$scales,
                       Graph_EnumAttr<Graph_ResizeMode>:$mode,
                       Graph_EnumAttr<Graph_ResizeCoordinates>:$coordinates,
                       Graph_EnumAttr<Graph_ResizeRounding>:$rounding,
                       DefaultValuedAttr<F32Attr, "-0.75f">:$cubic_coeff,
                       DefaultValuedAttr<BoolAttr, "false">:$exclude_outside);
  let parallel_axes = "";
}

#endif
