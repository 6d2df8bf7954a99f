// f32 convolutions of images with one input channel per group. The matrix product of a group has
// too few rows for the micro-kernels. Instead, a work item is one output channel of an image, and
// is computed in vectors along the width.
//
// Common kernels, such as 3x3, are computed in tiles of several rows and one vector of columns. A
// tile loads each input vector once, and has enough independent sums for the latency of
// multiply-adds. All other kernels are computed one vector at a time (emit_line).
#include "compiler/kernels/contraction/epilogue.h"
#include "compiler/kernels/convolution/conv_shape.h"
#include "compiler/kernels/convolution/convolution.h"
#include "compiler/schedule/convolution.h"

namespace scopevm::compiler::kernels {
namespace {

using graph::TensorType;

class DepthwiseConv {
 public:
  DepthwiseConv(const FusedContraction& fused, LoweringContext& context)
      : fused_(fused),
        op_(mlir::cast<graph::ConvOp>(fused.contraction)),
        shape_(op_),
        epilogue_(fused, op_.getBias()),
        k_(context, op_, "depthwise"),
        lanes_(k_.lanes(DType::kF32)),
        type_(k_.vector(k_.builder().getF32Type(), lanes_)) {}

  llvm::LogicalResult lower() {
    x_ = k_.operand(fused_.outer(op_.getX()), Elements::kNumbers);
    w_ = k_.operand(fused_.outer(op_.getW()), Elements::kNumbers);
    epilogue_.declare(k_);
    rows_ = k_.param(shape_.rows);
    multiplier_ = k_.param(max(floordiv(shape_.rows, shape_.groups), 1));
    channels_ = k_.param(shape_.channels);
    for (int64_t axis = 0; axis < 2; ++axis) {
      kernel_[axis] = k_.param(shape_.kernel[axis]);
      strides_[axis] = k_.param(shape_.strides[axis]);
      pads_[axis] = k_.param(shape_.pads[axis]);
      dilations_[axis] = k_.param(shape_.dilations[axis]);
    }
    height_ = k_.param(shape_.height);
    width_ = k_.param(shape_.width);
    out_height_ = k_.param(shape_.out_height);
    out_width_ = k_.param(shape_.out_width);
    kernel_height_ = shape_.kernel[0].as_constant().value_or(0);
    kernel_width_ = shape_.kernel[1].as_constant().value_or(0);
    k_.loop(k_.begin(), k_.end(), 1, [&](Term item) { emit_plane(item); });
    constexpr int64_t kTaskTaps = 1 << 18;
    DimExpr taps = shape_.positions() * shape_.kernel[0] * shape_.kernel[1];
    return k_.launch(shape_.images * shape_.rows, grain_of(kTaskTaps, taps));
  }

 private:
  // The output channel of a work item: its channel number `row`, and the positions of its input
  // channel and of its weights.
  struct Plane {
    Term x_at, w_at, row;
  };

  void emit_plane(Term item) {
    Term image = quotient(item, rows_), row = remainder(item, rows_);
    // Each input channel has `multiplier_` adjacent output channels.
    Term channel = image * channels_ + quotient(row, multiplier_);
    Plane plane{
        .x_at = channel * (height_ * width_), .w_at = row * (kernel_[0] * kernel_[1]), .row = row};
    epilogue_.enter(k_, image);
    if (has_tiles()) return emit_tiles(plane);
    k_.loop(k_.index(0), out_height_, 1, [&](Term y) { emit_line(plane, y); });
  }

  // --- Tiles. ---

  bool has_tiles() const { return tile_rows() != 0; }
  int64_t tile_rows() const {
    return schedule::by_channel_tile_rows(k_.target(), kernel_height_ * kernel_width_,
                                          shape_.strides[1]);
  }

  void emit_tiles(const Plane& plane) {
    weights_.clear();
    for (int64_t tap = 0; tap < kernel_height_ * kernel_width_; ++tap)
      weights_.push_back(k_.splat(k_.load(w_, plane.w_at + tap), lanes_));
    k_.loop(k_.index(0), out_height_, tile_rows(), [&](Term y) {
      k_.loop(k_.index(0), out_width_, lanes_, [&](Term x) {
        Term start = x * shape_.strides[1] - shape_.pads[1];
        k_.when((0 <= start) & (start + reach() <= width_) & (x + lanes_ <= out_width_),
                [&] { emit_tile(plane, y, x, start, {}); },
                [&] { emit_tile(plane, y, x, start, k_.mask(out_width_ - x, lanes_)); });
      });
    });
  }

  // The number of adjacent columns that a tile loads. A tap of stride 2 takes the even elements of
  // two vectors, or the odd ones of those of the previous tap.
  int64_t reach() const {
    const int64_t stride = shape_.strides[1], dilation = shape_.dilations[1];
    const bool shares = stride == 2 && dilation == 1;
    const int64_t last = shares ? (kernel_width_ - 1) / 2 * 2 : (kernel_width_ - 1) * dilation;
    return last + stride * lanes_;
  }

  // Computes outputs [y, y + tile_rows()) x [x, x + lanes_). `exists` is null if all columns exist
  // and read columns of x only, the first of which is `start`. Otherwise it has one bit per column.
  void emit_tile(const Plane& plane, Term y, Term x, Term start, Term exists) {
    Term top = y * shape_.strides[0] - shape_.pads[0];
    Terms sums(static_cast<size_t>(tile_rows()), k_.zero(type_));
    const int64_t input_rows =
        (tile_rows() - 1) * shape_.strides[0] + (kernel_height_ - 1) * shape_.dilations[0] + 1;
    for (int64_t i = 0; i < input_rows; ++i) add_row(plane, top + i, i, start, exists, sums);
    for (int64_t row = 0; row < tile_rows(); ++row)
      k_.when(y + row < out_height_, [&] {
        epilogue_.emit(k_, sums[row], plane.row, (y + row) * out_width_ + x, lanes_, exists);
      });
  }

  // Adds the products with row `line` of x, the tile's input row `i`, to all sums that it is for.
  void add_row(const Plane& plane, Term line, int64_t i, Term start, Term exists, Terms& sums) {
    struct Use {
      int64_t row, ky;
    };
    llvm::SmallVector<Use> uses;
    for (int64_t row = 0; row < tile_rows(); ++row) {
      const int64_t offset = i - row * shape_.strides[0], ky = offset / shape_.dilations[0];
      if (offset >= 0 && offset % shape_.dilations[0] == 0 && ky < kernel_height_)
        uses.push_back({row, ky});
    }
    if (uses.empty()) return;
    // A row is either a row of x or padding.
    Terms next =
        k_.branch((0 <= line) & (line < height_), llvm::SmallVector<mlir::Type>(uses.size(), type_),
                  [&] {
                    const Terms taps = load_taps(plane.x_at + line * width_ + start, start, exists);
                    Terms added;
                    for (const Use& use : uses) {
                      Term sum = sums[use.row];
                      for (int64_t kx = 0; kx < kernel_width_; ++kx)
                        sum = taps[kx] * weights_[use.ky * kernel_width_ + kx] + sum;
                      added.push_back(sum);
                    }
                    return added;
                  },
                  [&] {
                    Terms kept;
                    for (const Use& use : uses) kept.push_back(sums[use.row]);
                    return kept;
                  });
    for (auto [use, sum] : llvm::zip(uses, next)) sums[use.row] = sum;
  }

  // For each tap of a row of the kernel, the elements of x that it is multiplied with. `from` is
  // the position of the first one. Columns outside of x are 0.
  Terms load_taps(Term from, Term start, Term exists) {
    const int64_t stride = shape_.strides[1], dilation = shape_.dilations[1];
    const auto load = [&](int64_t offset) {
      Term mask;
      if (exists)
        mask = less(iota_times(k_.index(1)) + k_.splat(to_i32(start + offset), lanes_),
                    k_.splat(to_i32(width_), lanes_), /*is_unsigned=*/true);
      return k_.load(x_, from + offset, lanes_, mask);
    };
    Terms taps;
    Term low, high;
    for (int64_t kx = 0; kx < kernel_width_; ++kx) {
      const bool is_odd = stride == 2 && dilation == 1 && kx % 2 == 1;
      if (!is_odd) low = load(kx * dilation);
      if (!is_odd && stride == 2) high = load(kx * dilation + lanes_);
      taps.push_back(stride == 1 ? low : every_other(low, high, is_odd ? 1 : 0));
    }
    return taps;
  }

  // --- Other kernels. ---

  void emit_line(const Plane& plane, Term y) {
    Term top = y * strides_[0] - pads_[0];
    k_.loop(k_.index(0), out_width_, lanes_, [&](Term x) {
      Term left = out_width_ - x;
      Term column = y * out_width_ + x;
      Term sum = emit_sum(plane, top, x);
      k_.when(
          lanes_ <= left, [&] { epilogue_.emit(k_, sum, plane.row, column, lanes_, {}); },
          [&] { epilogue_.emit(k_, sum, plane.row, column, lanes_, k_.mask(left, lanes_)); });
    });
  }

  // With stride 1 or 2, vectors of consecutive elements are loaded. With other strides, elements
  // are gathered, which costs ten times as much.
  Term emit_sum(const Plane& plane, Term top, Term x) {
    return k_.branch(
        strides_[1] == 1, type_, [&] { return emit_taps(plane, top, x, 1); },
        [&] {
          return k_.branch(
              strides_[1] == 2, type_, [&] { return emit_taps(plane, top, x, 2); },
              [&] { return emit_taps(plane, top, x, 0); });
        })[0];
  }

  // The elements at from, from + 2, from + 4, ... of x, or 0 outside the row. `first` is the input
  // column of the first element.
  Term load_even(Term from, Term first, Term width) {
    Term halves[2];
    for (int64_t half = 0; half < 2; ++half) {
      Term numbers = iota_times(k_.index(1)) + k_.splat(to_i32(first + half * lanes_), lanes_);
      // The comparison is unsigned, so that the negative coordinates of the left padding are
      // outside.
      Term inside = less(numbers, width, /*is_unsigned=*/true);
      halves[half] = k_.load(x_, from + half * lanes_, lanes_, inside);
    }
    return every_other(halves[0], halves[1], 0);
  }

  // Elements first, first + 2, first + 4, ... of the concatenation.
  Term every_other(Term low, Term high, int64_t first) {
    llvm::SmallVector<int64_t> lanes;
    for (int64_t lane = 0; lane < lanes_; ++lane) lanes.push_back(2 * lane + first);
    return k_.shuffle(low, high, lanes);
  }

  Term iota_times(Term stride) {
    Term numbers = k_.iota(k_.builder().getI32Type(), lanes_);
    return numbers * k_.splat(to_i32(stride), lanes_);
  }

  // The sums over the windows of the `lanes_` outputs from output column x on. `top` is the input
  // row of the windows' first row. `stride` is 1, 2, or 0 for any other stride.
  Terms emit_taps(const Plane& plane, Term top, Term x, int64_t stride) {
    Term zero = k_.zero(type_);
    Term start = x * strides_[1] - pads_[1];
    Term offsets = iota_times(strides_[1]);
    Term columns = offsets + k_.splat(to_i32(start), lanes_);
    Term width = k_.splat(to_i32(width_), lanes_);
    Term last_x = out_width_ - x;
    Term exists = k_.mask(last_x, lanes_);
    auto taps_of_line = [&](Term ky, Term line, Term sum) {
      Term w_at = plane.w_at + ky * kernel_[1];
      Term x_at = plane.x_at + line * width_ + start;
      return k_.loop(k_.index(0), kernel_[1], 1, {sum}, [&](Term kx, llvm::ArrayRef<Term> carried) {
        Term shift = kx * dilations_[1];
        Term at = columns + k_.splat(to_i32(shift), lanes_);
        Term inside = less(at, width, /*is_unsigned=*/true);
        Term mask = inside & exists;
        Term from = x_at + shift;
        Term value = stride == 1   ? k_.load(x_, from, lanes_, mask)
                     : stride == 2 ? load_even(from, start + shift, width)
                                   : k_.gather(x_, from, offsets, mask);
        Term weight = k_.splat(k_.load(w_, w_at + kx), lanes_);
        return Terms{value * weight + carried[0]};
      });
    };
    return k_.loop(k_.index(0), kernel_[0], 1, {zero}, [&](Term ky, llvm::ArrayRef<Term> carried) {
      Term line = top + ky * dilations_[0];
      // A row is either entirely a row of x or entirely padding, so one branch per row replaces a
      // vertical mask per element.
      Term inside = (0 <= line) & (line < height_);
      return k_.branch(
          inside, type_, [&] { return taps_of_line(ky, line, carried[0]); },
          [&] { return Terms{carried[0]}; });
    });
  }

  const FusedContraction& fused_;
  graph::ConvOp op_;
  ConvShape shape_;
  Epilogue epilogue_;
  KernelBuilder k_;
  int64_t lanes_;
  mlir::Type type_;  // vector type

  Buffer x_, w_;
  int64_t kernel_height_ = 0, kernel_width_ = 0;  // 0: not known at compile time
  Terms weights_;                                 // of the current channel, in all lanes
  Term rows_, multiplier_, channels_, kernel_[2], strides_[2], pads_[2], dilations_[2], height_,
      width_, out_height_, out_width_;
};

}  // namespace

bool is_depthwise_conv(const FusedContraction& fused) {
  auto op = mlir::dyn_cast<graph::ConvOp>(fused.contraction);
  if (!op || op.getGroup() == 1) return false;
  int64_t rank = mlir::cast<TensorType>(op.getX().getType()).getRank();
  auto w = mlir::cast<TensorType>(op.getW().getType());
  return (rank == 3 || rank == 4) && w.getDim(1).is_constant(1);
}

llvm::LogicalResult lower_depthwise_conv(const FusedContraction& fused, LoweringContext& context) {
  return DepthwiseConv(fused, context).lower();
}

}  // namespace scopevm::compiler::kernels
