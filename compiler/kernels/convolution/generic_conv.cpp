// Convolutions and transposed convolutions of any rank and element type as scalar loops. A work
// item is one channel of one image of the result.
//
// Both sum over input channels and kernel positions. They differ in the input coordinate that
// belongs to output coordinate o and kernel coordinate k:
//   convolution             o * stride - pad + k * dilation
//   transposed convolution  (o + pad - k * dilation) / stride; no element unless the division is
//                           exact
#include "compiler/kernels/contraction/epilogue.h"
#include "compiler/kernels/contraction/scalar_sum.h"
#include "compiler/kernels/convolution/convolution.h"

namespace scopevm::compiler::kernels {
namespace {

using graph::TensorType;

class GenericConv {
 public:
  GenericConv(const FusedContraction& fused, LoweringContext& context)
      : fused_(fused),
        transposed_(mlir::isa<graph::ConvTransposeOp>(fused.contraction)),
        dtype_(fused.type().getDtype()),
        bias_(fused.contraction->getNumOperands() > 2 ? fused.contraction->getOperand(2)
                                                      : mlir::Value()),
        epilogue_(fused, bias_),
        k_(context, fused.contraction, transposed_ ? "conv_transpose_loops" : "conv_loops"),
        sum_{k_, dtype_} {}

  llvm::LogicalResult lower() {
    auto op = fused_.contraction;
    auto x = mlir::cast<TensorType>(op->getOperand(0).getType());
    auto w = mlir::cast<TensorType>(op->getOperand(1).getType());
    int64_t group = op->getAttrOfType<mlir::IntegerAttr>("group").getInt();
    DimExpr rows = fused_.type().getDim(1);
    x_ = k_.operand(fused_.outer(op->getOperand(0)), Elements::kNumbers);
    w_ = k_.operand(fused_.outer(op->getOperand(1)), Elements::kNumbers);
    epilogue_.declare(k_);
    rows_ = k_.param(rows);
    group_rows_ = k_.param(max(floordiv(rows, group), 1));
    group_channels_ = k_.param(floordiv(x.getDim(1), group));
    channels_ = k_.param(x.getDim(1));
    declare_axes(x, w);
    k_.loop(k_.begin(), k_.end(), 1, [&](Term item) { emit_channel(item); });
    constexpr int64_t kTaskSteps = 1 << 16;
    DimExpr steps = element_count(fused_.type().getShape().drop_front(2)) *
                    element_count(w.getShape().drop_front(1));
    return k_.launch(fused_.type().getDim(0) * rows, grain_of(kTaskSteps, steps));
  }

 private:
  struct SpatialAxis {
    Term in, out, kernel, stride, pad, dilation;
  };

  void declare_axes(TensorType x, TensorType w) {
    auto attribute = [&](const char* name) {
      return fused_.contraction->getAttrOfType<mlir::DenseI64ArrayAttr>(name).asArrayRef();
    };
    for (int64_t axis = 0; axis < x.getRank() - 2; ++axis)
      axes_.push_back({k_.param(x.getDim(axis + 2)), k_.param(fused_.type().getDim(axis + 2)),
                       k_.param(w.getDim(axis + 2)), k_.param(attribute("strides")[axis]),
                       k_.param(attribute("pads")[axis]), k_.param(attribute("dilations")[axis])});
  }

  Term product(Term SpatialAxis::* which) {
    Term product = k_.index(1);
    for (const SpatialAxis& axis : axes_) product = product * (axis.*which);
    return product;
  }

  // The coordinates of a linear position in a space with the sizes `which` of the axes.
  Terms unflatten(Term position, Term SpatialAxis::* which) {
    Terms at(axes_.size());
    for (size_t axis = axes_.size(); axis-- > 0;) {
      at[axis] = remainder(position, axes_[axis].*which);
      position = quotient(position, axes_[axis].*which);
    }
    return at;
  }

  void emit_channel(Term item) {
    Term image = quotient(item, rows_), row = remainder(item, rows_);
    epilogue_.enter(k_, image);
    k_.loop(k_.index(0), product(&SpatialAxis::out), 1, [&](Term position) {
      Terms out = unflatten(position, &SpatialAxis::out);
      Term kernel = product(&SpatialAxis::kernel);
      Term total = k_.loop(k_.index(0), kernel, 1, {sum_.zero()},
                           [&](Term tap, llvm::ArrayRef<Term> carried) {
                             return emit_tap(image, row, out, tap, kernel, carried[0]);
                           })[0];
      epilogue_.emit(k_, total, row, position, 1, {});
    });
  }

  // Adds the contribution of one kernel position, over the channels of the group.
  Terms emit_tap(Term image, Term row, llvm::ArrayRef<Term> out, Term tap, Term kernel, Term sum) {
    Terms at = unflatten(tap, &SpatialAxis::kernel);
    Term inside = k_.boolean(true), offset = k_.index(0);
    for (size_t i = 0; i < axes_.size(); ++i) {
      const SpatialAxis& axis = axes_[i];
      Term reach = at[i] * axis.dilation;
      Term in;
      if (transposed_) {
        Term scaled = out[i] + axis.pad - reach;
        inside = inside & (0 <= scaled);
        // For a negative `scaled`, the unsigned remainder is meaningless, but `inside` is false.
        inside = inside & (remainder(scaled, axis.stride) == 0);
        in = quotient(scaled, axis.stride);
      } else {
        in = out[i] * axis.stride - axis.pad + reach;
        inside = inside & (0 <= in);
      }
      inside = inside & (in < axis.in);
      offset = offset * axis.in + in;
    }
    Term area = product(&SpatialAxis::in);
    Term group = quotient(row, group_rows_), in_group = remainder(row, group_rows_);
    Term first = group * group_channels_;
    return k_.branch(
        inside, sum.type(),
        [&] {
          return k_.loop(
              k_.index(0), group_channels_, 1, {sum}, [&](Term c, llvm::ArrayRef<Term> carried) {
                Term channel = first + c;
                Term plane = image * channels_ + channel;
                Term x = sum_.load(x_, plane * area + offset);
                Term filter =
                    // In ONNX, the weights of Conv are [rows, channels / group, kernel], and those
                    // of ConvTranspose are [channels, rows / group, kernel].
                    transposed_ ? channel * group_rows_ + in_group : row * group_channels_ + c;
                Term w = sum_.load(w_, filter * kernel + tap);
                return Terms{sum_.multiply_add(x, w, carried[0])};
              });
        },
        [&] { return Terms{sum}; });
  }

  const FusedContraction& fused_;
  bool transposed_;
  DType dtype_;
  mlir::Value bias_;
  Epilogue epilogue_;
  KernelBuilder k_;
  ScalarSum sum_;

  llvm::SmallVector<SpatialAxis> axes_;
  Buffer x_, w_;
  Term rows_, group_rows_, group_channels_, channels_;
};

}  // namespace

llvm::LogicalResult lower_generic_conv(const FusedContraction& fused, LoweringContext& context) {
  return GenericConv(fused, context).lower();
}

}  // namespace scopevm::compiler::kernels
