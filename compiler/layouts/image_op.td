// The interface of ops on images that can be computed in several layouts.
#ifndef SCOPEVM_LAYOUTS_IMAGE_OP
#define SCOPEVM_LAYOUTS_IMAGE_OP

include "mlir/IR/OpBase.td"

// The models of the ops are external: they are in models/, by family of ops.
def Layouts_ImageOp : OpInterface<"ImageOp"> {
  let cppNamespace = "::scopevm::compiler::layouts";
  let description = [{
    Computes images by channel, [n, c, h, w], or reads them. It has another form for blocked images,
    [n, ceil(c / 16), h, w, 16], or is computed on channels-last images, [n, h, w, c], and has
    another form by channel.
  }];
  let methods = [
    InterfaceMethod<[{
      How the op is computed on blocked images. Empty if its types, attributes or constants do not
      permit that. The caller checks places.
    }], "::std::optional<::scopevm::compiler::layouts::BlockedForm>", "getBlockedForm",
      (ins "const ::scopevm::compiler::layouts::Options &":$options)>,
    InterfaceMethod<[{
      Estimated times of the op by channel and in this form, at representative dims and the values
      `known`. By default, those of an op that is bound by memory.
    }], "::scopevm::compiler::schedule::LayoutTimes", "getTimes",
      (ins "const ::scopevm::compiler::layouts::BlockedForm &":$form,
           "const ::scopevm::compiler::schedule::Core &":$core,
           "const ::scopevm::compiler::DimValues &":$known), [{}], [{
        return ::scopevm::compiler::layouts::image_op_times(form, core, known);
      }]>,
    InterfaceMethod<[{
      The schedule of this form as text, for explanations and for keys of measured times. Empty: it
      has none.
    }], "::std::string", "getScheduleText",
      (ins "const ::scopevm::compiler::layouts::BlockedForm &":$form,
           "const ::scopevm::compiler::schedule::Core &":$core), [{}], [{ return ""; }]>,
    InterfaceMethod<"The schedule of the op by channel as text.",
      "::std::string", "getByChannelScheduleText",
      (ins "const ::scopevm::compiler::schedule::Core &":$core), [{}], [{ return ""; }]>,
    InterfaceMethod<[{
      Creates this form at the insertion point. `operands` maps the images to blocked ones, or to
      themselves if the form reads them by channel. Returns the result: blocked, or as before. By
      default, the form is the same op with the same attributes.
    }], "::mlir::Value", "createBlocked",
      (ins "::mlir::OpBuilder &":$builder,
           "const ::scopevm::compiler::layouts::BlockedForm &":$form,
           "::mlir::IRMapping &":$operands), [{}], [{
        return ::scopevm::compiler::layouts::clone_blocked(builder, $_op, operands)->getResult(0);
      }]>,
    InterfaceMethod<[{
      Whether the op, which is computed on channels-last images, can be computed by channel.
    }], "bool", "canMoveChannels", (ins), [{}], [{ return false; }]>,
    InterfaceMethod<[{
      Changes the attributes of such an op from channels-last images to images by channel. By
      default, they do not depend on the layout.
    }], "void", "moveChannels", (ins), [{}], [{ return; }]>,
    InterfaceMethod<"Whether a result of rank 4 is an image by channel, whatever the operands are.",
      "bool", "definesImages", (ins), [{}], [{
        return ::mlir::isa<::scopevm::compiler::graph::WindowOp>(
            static_cast<::mlir::Operation *>($_op));
      }]>,
    InterfaceMethod<[{
      Replaces an op by channel by ops with faster kernels, if there are any. `may_be_blocked`: only
      if its blocked form would not be faster.
    }], "void", "expandByChannel", (ins "bool":$may_be_blocked), [{}], [{ return; }]>,
  ];
}

#endif
