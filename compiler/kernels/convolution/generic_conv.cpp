// Convolutions and transposed convolutions of any rank and element type as plain loops; one work
// item is one channel of one image of the result.
//
// Both sum over input channels and kernel positions; they differ in the input coordinate that
// output coordinate o and kernel coordinate k meet at: o * stride - pad + k * dilation, or
// (o + pad - k * dilation) / stride where that divides.
#include "compiler/kernels/contraction/epilogue.h"
#include "compiler/kernels/contraction/scalar_sum.h"
#include "compiler/kernels/convolution/convolution.h"

namespace scopevm::compiler::kernels {
namespace {

using graph::TensorType;
using mlir::Value;

class GenericConv {
 public:
  GenericConv(const FusedContraction& fused, LoweringContext& context)
      : fused_(fused),
        context_(context),
        transposed_(mlir::isa<graph::ConvTransposeOp>(fused.contraction)),
        dtype_(fused.type().getDtype()),
        bias_(fused.contraction->getNumOperands() > 2 ? fused.contraction->getOperand(2) : Value()),
        epilogue_(fused, fusion::output_axes(fused.contraction), bias_),
        builder_(fused.contraction->getContext()),
        e_(builder_),
        launch_(context, builder_),
        sum_{e_, dtype_} {}

  void lower() {
    auto op = fused_.contraction;
    auto x = mlir::cast<TensorType>(op->getOperand(0).getType());
    auto w = mlir::cast<TensorType>(op->getOperand(1).getType());
    int64_t group = op->getAttrOfType<mlir::IntegerAttr>("group").getInt();
    DimExpr rows = fused_.type().getDim(1);
    x_ = launch_.operand(context_.value_of(fused_.outer(op->getOperand(0))), dtype_);
    w_ = launch_.operand(context_.value_of(fused_.outer(op->getOperand(1))), dtype_);
    epilogue_.declare(launch_, context_);
    rows_ = launch_.param(rows);
    group_rows_ = launch_.param(max(floordiv(rows, group), 1));
    group_channels_ = launch_.param(floordiv(x.getDim(1), group));
    channels_ = launch_.param(x.getDim(1));
    declare_axes(x, w);
    launch_.begin_body();
    e_.loop(launch_.begin(), launch_.end(), 1, [&](Value item) { emit_channel(item); });
    constexpr int64_t kTaskSteps = 1 << 16;
    DimExpr steps = element_count(fused_.type().getShape().drop_front(2)) *
                    element_count(w.getShape().drop_front(1));
    launch_.finish(transposed_ ? "conv_transpose_loops" : "conv_loops",
                   fused_.type().getDim(0) * rows, max(floordiv(kTaskSteps, max(steps, 1)), 1));
  }

 private:
  struct Axis {
    Launch::Param in, out, kernel, stride, pad, dilation;
  };

  void declare_axes(TensorType x, TensorType w) {
    auto attribute = [&](const char* name) {
      return fused_.contraction->getAttrOfType<mlir::DenseI64ArrayAttr>(name).asArrayRef();
    };
    for (int64_t axis = 0; axis < x.getRank() - 2; ++axis)
      axes_.push_back(
          {launch_.param(x.getDim(axis + 2)), launch_.param(fused_.type().getDim(axis + 2)),
           launch_.param(w.getDim(axis + 2)), launch_.param(attribute("strides")[axis]),
           launch_.param(attribute("pads")[axis]), launch_.param(attribute("dilations")[axis])});
  }

  Value product(Launch::Param Axis::* which) {
    Value product = e_.index(1);
    for (const Axis& axis : axes_) product = e_.mul(product, launch_[axis.*which]);
    return product;
  }

  // The coordinates of a flat position.
  llvm::SmallVector<Value> unflatten(Value position, Launch::Param Axis::* which) {
    llvm::SmallVector<Value> at(axes_.size());
    for (size_t axis = axes_.size(); axis-- > 0;) {
      at[axis] = e_.rem(position, launch_[axes_[axis].*which]);
      position = e_.div(position, launch_[axes_[axis].*which]);
    }
    return at;
  }

  void emit_channel(Value item) {
    Value image = e_.div(item, launch_[rows_]), row = e_.rem(item, launch_[rows_]);
    epilogue_.enter(e_, launch_, image);
    e_.loop(e_.index(0), product(&Axis::out), 1, [&](Value position) {
      llvm::SmallVector<Value> out = unflatten(position, &Axis::out);
      Value kernel = product(&Axis::kernel);
      Value total =
          e_.fold(e_.index(0), kernel, 1, sum_.zero(), [&](Value tap, mlir::ValueRange carried) {
            return emit_tap(image, row, out, tap, kernel, carried[0]);
          })[0];
      epilogue_.emit(e_, launch_, total, row, position, 1, nullptr);
    });
  }

  // Adds what one kernel position contributes, over the channels of the group.
  Emitter::Values emit_tap(Value image, Value row, mlir::ValueRange out, Value tap, Value kernel,
                           Value sum) {
    llvm::SmallVector<Value> at = unflatten(tap, &Axis::kernel);
    Value inside =
        e_.builder.create<mlir::arith::ConstantOp>(e_.location, e_.builder.getBoolAttr(true));
    Value offset = e_.index(0);
    for (size_t i = 0; i < axes_.size(); ++i) {
      const Axis& axis = axes_[i];
      Value reach = e_.mul(at[i], launch_[axis.dilation]);
      Value in;
      if (transposed_) {
        Value scaled = e_.sub(e_.add(out[i], launch_[axis.pad]), reach);
        inside = e_.both(inside, e_.less_equal(e_.index(0), scaled));
        inside = e_.both(inside, e_.equal(e_.rem(scaled, launch_[axis.stride]), e_.index(0)));
        in = e_.div(scaled, launch_[axis.stride]);
      } else {
        in = e_.add(e_.sub(e_.mul(out[i], launch_[axis.stride]), launch_[axis.pad]), reach);
        inside = e_.both(inside, e_.less_equal(e_.index(0), in));
      }
      inside = e_.both(inside, e_.less(in, launch_[axis.in]));
      offset = e_.add(e_.mul(offset, launch_[axis.in]), in);
    }
    Value area = product(&Axis::in);
    Value group = e_.div(row, launch_[group_rows_]), in_group = e_.rem(row, launch_[group_rows_]);
    Value first = e_.mul(group, launch_[group_channels_]);
    return e_.choose(
        inside, sum.getType(),
        [&] {
          return e_.fold(e_.index(0), launch_[group_channels_], 1, sum,
                         [&](Value c, mlir::ValueRange carried) {
                           Value channel = e_.add(first, c);
                           Value plane = e_.add(e_.mul(image, launch_[channels_]), channel);
                           Value x = sum_.load(launch_[x_], e_.add(e_.mul(plane, area), offset));
                           Value filter =
                               transposed_ ? e_.add(e_.mul(channel, launch_[group_rows_]), in_group)
                                           : e_.add(e_.mul(row, launch_[group_channels_]), c);
                           Value w = sum_.load(launch_[w_], e_.add(e_.mul(filter, kernel), tap));
                           return Emitter::Values{sum_.multiply_add(x, w, carried[0])};
                         });
        },
        [&] { return Emitter::Values{sum}; });
  }

  const FusedContraction& fused_;
  LoweringContext& context_;
  bool transposed_;
  DType dtype_;
  Value bias_;
  Epilogue epilogue_;
  mlir::OpBuilder builder_;
  Emitter e_;
  Launch launch_;
  ScalarSum sum_;

  llvm::SmallVector<Axis> axes_;
  Launch::Buffer x_, w_;
  Launch::Param rows_, group_rows_, group_channels_, channels_;
};

}  // namespace

void lower_generic_conv(const FusedContraction& fused, LoweringContext& context) {
  GenericConv(fused, context).lower();
}

}  // namespace scopevm::compiler::kernels
