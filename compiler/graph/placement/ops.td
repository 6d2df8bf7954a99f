// Placement ops. A place is a device ("gpu") or one of its memory scopes ("gpu.global.workspace").
#ifndef SCOPEVM_GRAPH_PLACEMENT_OPS
#define SCOPEVM_GRAPH_PLACEMENT_OPS

include "compiler/graph/op_classes.td"

// A placement constraint; the placement stage honours and erases it. constrain_body: x is stored at
// the place. constrain_result: consumers of the result read it there.
def OnDeviceOp : Graph_Op<"on_device", "x, constrained to a place"> {
  let arguments = (ins Graph_Tensor:$x, StrAttr:$place,
                       DefaultValuedAttr<BoolAttr, "true">:$constrain_body,
                       DefaultValuedAttr<BoolAttr, "false">:$constrain_result);
  let elements = [kStored];
  let rule = "infer_elementwise(rule, op.getOperands())";
  let checks = kNoChecks;
  let parallel_axes = "equal_axes(*this)";
}

// `from` is a place to which x is constrained. If it is absent, x is not constrained.
def DeviceCopyOp : Graph_Op<"device_copy", "copy of x at the place `to`"> {
  let arguments = (ins Graph_Tensor:$x, StrAttr:$to, OptionalAttr<StrAttr>:$from);
  let elements = [kStored];
  let rule = "infer_elementwise(rule, op.getOperands())";
  let checks = kNoChecks;
  let parallel_axes = "equal_axes(*this)";
}

#endif
