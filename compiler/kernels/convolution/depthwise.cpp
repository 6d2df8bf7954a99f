// f32 image convolutions with one input channel a group: no sum over channels to feed a tile with,
// so each plane is its own work item, vectorised along the output row.
#include "compiler/kernels/contraction/epilogue.h"
#include "compiler/kernels/convolution/conv_shape.h"
#include "compiler/kernels/convolution/convolution.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace scopevm::compiler::kernels {
namespace {

using graph::TensorType;
using mlir::Value;

class DepthwiseConv {
 public:
  DepthwiseConv(const FusedContraction& fused, LoweringContext& context)
      : fused_(fused),
        context_(context),
        op_(mlir::cast<graph::ConvOp>(fused.contraction)),
        shape_(op_),
        epilogue_(fused, fusion::output_axes(op_), op_.getBias()),
        builder_(op_.getContext()),
        e_(builder_),
        launch_(context, builder_),
        lanes_(context.kernels().target().lanes(4)) {}

  void lower() {
    x_ = launch_.operand(context_.value_of(fused_.outer(op_.getX())), DType::kF32);
    w_ = launch_.operand(context_.value_of(fused_.outer(op_.getW())), DType::kF32);
    epilogue_.declare(launch_, context_);
    rows_ = launch_.param(shape_.rows);
    multiplier_ = launch_.param(max(floordiv(shape_.rows, shape_.groups), 1));
    channels_ = launch_.param(shape_.channels);
    for (int64_t axis = 0; axis < 2; ++axis) {
      kernel_[axis] = launch_.param(shape_.kernel[axis]);
      strides_[axis] = launch_.param(shape_.strides[axis]);
      pads_[axis] = launch_.param(shape_.pads[axis]);
      dilations_[axis] = launch_.param(shape_.dilations[axis]);
    }
    height_ = launch_.param(shape_.height);
    width_ = launch_.param(shape_.width);
    out_height_ = launch_.param(shape_.out_height);
    out_width_ = launch_.param(shape_.out_width);
    launch_.begin_body();
    e_.loop(launch_.begin(), launch_.end(), 1, [&](Value item) { emit_plane(item); });
    constexpr int64_t kTaskTaps = 1 << 18;
    DimExpr taps = max(shape_.positions() * shape_.kernel[0] * shape_.kernel[1], 1);
    launch_.finish("depthwise", shape_.images * shape_.rows, max(floordiv(kTaskTaps, taps), 1));
  }

 private:
  struct Plane {
    Value x_at, w_at, row;
  };

  void emit_plane(Value item) {
    Value image = e_.div(item, launch_[rows_]), row = e_.rem(item, launch_[rows_]);
    Value channel = e_.add(e_.mul(image, launch_[channels_]), e_.div(row, launch_[multiplier_]));
    Plane plane{.x_at = e_.mul(channel, e_.mul(launch_[height_], launch_[width_])),
                .w_at = e_.mul(row, e_.mul(launch_[kernel_[0]], launch_[kernel_[1]])),
                .row = row};
    epilogue_.enter(e_, launch_, image);
    e_.loop(e_.index(0), launch_[out_height_], 1, [&](Value y) { emit_line(plane, y); });
  }

  void emit_line(const Plane& plane, Value y) {
    Value top = e_.sub(e_.mul(y, launch_[strides_[0]]), launch_[pads_[0]]);
    e_.loop(e_.index(0), launch_[out_width_], lanes_, [&](Value x) {
      Value left = e_.sub(launch_[out_width_], x);
      Value column = e_.add(e_.mul(y, launch_[out_width_]), x);
      Value sum = emit_sum(plane, top, x);
      e_.when(
          e_.less_equal(e_.index(lanes_), left),
          [&] { epilogue_.emit(e_, launch_, sum, plane.row, column, lanes_, nullptr); },
          [&] {
            epilogue_.emit(e_, launch_, sum, plane.row, column, lanes_, e_.mask(left, lanes_));
          });
    });
  }

  // Strides 1 and 2 read consecutive elements; others gather, at ten times the cost.
  Value emit_sum(const Plane& plane, Value top, Value x) {
    auto stride_is = [&](int64_t stride) {
      return e_.equal(launch_[strides_[1]], e_.index(stride));
    };
    return e_.choose(
        stride_is(1), e_.f32(lanes_), [&] { return emit_taps(plane, top, x, 1); },
        [&] {
          return e_.choose(
              stride_is(2), e_.f32(lanes_), [&] { return emit_taps(plane, top, x, 2); },
              [&] { return emit_taps(plane, top, x, 0); });
        })[0];
  }

  // Every second element of those from `from` on; x coordinate of the first is `first`.
  Value load_even(Value from, Value first, Value width) {
    Value halves[2];
    for (int64_t half = 0; half < 2; ++half) {
      Value numbers = e_.add(iota_times(e_.index(1)),
                             e_.splat(e_.to_i32(e_.add(first, half * lanes_)), e_.i32(lanes_)));
      Value inside = e_.builder.create<mlir::arith::CmpIOp>(
          e_.location, mlir::arith::CmpIPredicate::ult, numbers, width);
      halves[half] =
          e_.load_masked(launch_[x_], e_.add(from, half * lanes_), inside, e_.f32(lanes_));
    }
    llvm::SmallVector<int64_t> even;
    for (int64_t lane = 0; lane < lanes_; ++lane) even.push_back(2 * lane);
    return e_.builder.create<mlir::vector::ShuffleOp>(e_.location, halves[0], halves[1], even);
  }

  Value iota_times(Value stride) {
    llvm::SmallVector<int32_t> iota;
    for (int64_t lane = 0; lane < lanes_; ++lane) iota.push_back(static_cast<int32_t>(lane));
    Value numbers = e_.builder.create<mlir::arith::ConstantOp>(
        e_.location, mlir::DenseElementsAttr::get(e_.i32(lanes_), llvm::ArrayRef<int32_t>(iota)));
    return e_.mul(numbers, e_.splat(e_.to_i32(stride), e_.i32(lanes_)));
  }

  // The sums of `lanes_` outputs of one line, from column x of the output on. Stride 0: any.
  Emitter::Values emit_taps(const Plane& plane, Value top, Value x, int64_t stride) {
    Value zero = e_.zero(e_.f32(lanes_));
    Value start = e_.sub(e_.mul(x, launch_[strides_[1]]), launch_[pads_[1]]);
    Value offsets = iota_times(launch_[strides_[1]]);
    Value columns = e_.add(offsets, e_.splat(e_.to_i32(start), e_.i32(lanes_)));
    Value width = e_.splat(e_.to_i32(launch_[width_]), e_.i32(lanes_));
    Value last_x = e_.sub(launch_[out_width_], x);
    Value exists = e_.mask(last_x, lanes_);
    auto taps_of_line = [&](Value ky, Value line, Value sum) {
      Value w_at = e_.add(plane.w_at, e_.mul(ky, launch_[kernel_[1]]));
      Value x_at = e_.add(e_.add(plane.x_at, e_.mul(line, launch_[width_])), start);
      return e_.fold(
          e_.index(0), launch_[kernel_[1]], 1, sum, [&](Value kx, mlir::ValueRange carried) {
            Value shift = e_.mul(kx, launch_[dilations_[1]]);
            Value at = e_.add(columns, e_.splat(e_.to_i32(shift), e_.i32(lanes_)));
            Value inside = e_.builder.create<mlir::arith::CmpIOp>(
                e_.location, mlir::arith::CmpIPredicate::ult, at, width);
            Value mask = e_.both(inside, exists);
            Value from = e_.add(x_at, shift);
            Value value = stride == 1 ? e_.load_masked(launch_[x_], from, mask, e_.f32(lanes_))
                          : stride == 2
                              ? load_even(from, e_.add(start, shift), width)
                              : e_.gather(launch_[x_], from, offsets, mask, e_.f32(lanes_));
            Value weight = e_.splat(e_.load(launch_[w_], e_.add(w_at, kx)), e_.f32(lanes_));
            Value product = e_.builder.create<mlir::arith::MulFOp>(e_.location, value, weight);
            return Emitter::Values{
                e_.builder.create<mlir::arith::AddFOp>(e_.location, product, carried[0])};
          });
    };
    return e_.fold(
        e_.index(0), launch_[kernel_[0]], 1, zero, [&](Value ky, mlir::ValueRange carried) {
          Value line = e_.add(top, e_.mul(ky, launch_[dilations_[0]]));
          Value inside = e_.both(e_.less_equal(e_.index(0), line), e_.less(line, launch_[height_]));
          return e_.choose(
              inside, e_.f32(lanes_), [&] { return taps_of_line(ky, line, carried[0]); },
              [&] { return Emitter::Values{carried[0]}; });
        });
  }

  const FusedContraction& fused_;
  LoweringContext& context_;
  graph::ConvOp op_;
  ConvShape shape_;
  Epilogue epilogue_;
  mlir::OpBuilder builder_;
  Emitter e_;
  Launch launch_;
  int64_t lanes_;

  Launch::Buffer x_, w_;
  Launch::Param rows_, multiplier_, channels_, kernel_[2], strides_[2], pads_[2], dilations_[2],
      height_, width_, out_height_, out_width_;
};

}  // namespace

bool is_depthwise_conv(const FusedContraction& fused) {
  auto op = mlir::dyn_cast<graph::ConvOp>(fused.contraction);
  if (!op || op.getGroup() == 1) return false;
  int64_t rank = mlir::cast<TensorType>(op.getX().getType()).getRank();
  auto w = mlir::cast<TensorType>(op.getW().getType());
  return (rank == 3 || rank == 4) && w.getDim(1).is_constant(1);
}

void lower_depthwise_conv(const FusedContraction& fused, LoweringContext& context) {
  DepthwiseConv(fused, context).lower();
}

}  // namespace scopevm::compiler::kernels
