// Convolutions of bytes by channel. Windows are unfolded to rows (im2col) of channels-last images,
// in which a window consists of a few long contiguous runs. With one channel and one output channel
// per group, a product would have one column: elementwise ops over all channels compute the sums
// over the taps instead.
#include "compiler/layouts/models/constants.h"
#include "compiler/layouts/models/convolution/expand.h"
#include "compiler/layouts/models/image.h"
#include "compiler/layouts/models/layout_ops.h"

namespace scopevm::compiler::layouts {
namespace {

using graph::TensorType;
using graph::type_of;

class ByteConv {
 public:
  explicit ByteConv(graph::ConvOp op)
      : op_(op),
        builder_(op),
        spatial_(type_of(op.getX()).getRank() - 2),
        group_(static_cast<int64_t>(op.getGroup())) {
    for (DimExpr dim : type_of(op.getW()).getShape().drop_front(2))
      kernel_.push_back(*dim.as_constant());
  }

  // [n, m, out...].
  mlir::Value sums() {
    const mlir::Value x = with_border(channels_last(op_.getX()));
    const TensorType w = type_of(op_.getW());
    const bool is_depthwise =
        group_ > 1 && w.getDim(1).is_constant(1) && w.getDim(0).is_constant(group_);
    const mlir::Value last = is_depthwise ? depthwise(x) : products(x);
    llvm::SmallVector<int64_t> order = {0, spatial_ + 1};
    for (int64_t axis = 1; axis <= spatial_; ++axis) order.push_back(axis);
    return transpose(builder_, last, order);
  }

 private:
  mlir::Location at() { return op_.getLoc(); }

  // [n, c, spatial...] -> [n, spatial..., c].
  mlir::Value channels_last(mlir::Value x) {
    llvm::SmallVector<int64_t> order = {0};
    for (int64_t axis = 2; axis < spatial_ + 2; ++axis) order.push_back(axis);
    order.push_back(1);
    return transpose(builder_, x, order);
  }

  mlir::Value with_border(mlir::Value x) {
    const llvm::ArrayRef<int64_t> given = op_.getPads();
    if (llvm::all_of(given, [](int64_t pad) { return pad == 0; })) return x;
    const int64_t rank = spatial_ + 2;
    llvm::SmallVector<DimExpr> dims(type_of(x).getShape()), pads(2 * rank, DimExpr(0));
    for (int64_t i = 0; i < spatial_; ++i) {
      pads[1 + i] = given[i];
      pads[rank + 1 + i] = given[spatial_ + i];
      dims[1 + i] = dims[1 + i] + DimExpr(given[i] + given[spatial_ + i]);
    }
    return builder_.create<graph::PadOp>(at(), type_of(x).withShape(dims), x, mlir::Value(),
                                         graph::DimsAttr::get(builder_.getContext(), pads),
                                         builder_.getStringAttr("constant"));
  }

  // The box of these dims at `starts`.
  mlir::Value slice(mlir::Value x, llvm::ArrayRef<DimExpr> starts, llvm::ArrayRef<DimExpr> dims,
                    llvm::ArrayRef<int64_t> steps) {
    if (type_of(x).getShape() == dims) return x;
    return builder_.create<graph::SliceOp>(
        at(), type_of(x).withShape(dims), x, graph::DimsAttr::get(builder_.getContext(), starts),
        graph::DimsAttr::get(builder_.getContext(), dims), builder_.getDenseI64ArrayAttr(steps));
  }

  // Element (tap) number `tap` of every window along spatial axis `i`.
  mlir::Value tap_of(mlir::Value x, int64_t i, int64_t tap) {
    llvm::SmallVector<DimExpr> starts(spatial_ + 2, DimExpr(0)), dims(type_of(x).getShape());
    llvm::SmallVector<int64_t> steps(spatial_ + 2, 1);
    starts[1 + i] = tap * op_.getDilations()[i];
    dims[1 + i] = type_of(op_.getResult()).getDim(2 + i);
    steps[1 + i] = op_.getStrides()[i];
    return slice(x, starts, dims, steps);
  }

  // Elements [index * count, (index + 1) * count) of an axis.
  mlir::Value part_of(mlir::Value x, int64_t axis, int64_t index, DimExpr count) {
    const int64_t rank = type_of(x).getRank();
    llvm::SmallVector<DimExpr> starts(rank, DimExpr(0)), dims(type_of(x).getShape());
    starts[axis] = DimExpr(index) * count;
    dims[axis] = count;
    return slice(x, starts, dims, llvm::SmallVector<int64_t>(rank, 1));
  }

  mlir::Value concat(llvm::ArrayRef<mlir::Value> parts, int64_t axis) {
    if (parts.size() == 1) return parts.front();
    llvm::SmallVector<DimExpr> dims(type_of(parts.front()).getShape());
    dims[axis] = dims[axis] * DimExpr(static_cast<int64_t>(parts.size()));
    return builder_.create<graph::ConcatOp>(at(), type_of(parts.front()).withShape(dims), parts,
                                            builder_.getI64IntegerAttr(axis));
  }

  // Unfolds the windows of x: [n, spatial..., c] -> [n, out..., kernel... * c].
  mlir::Value unfold(mlir::Value x) {
    // Starts with the last axis, so that its taps are innermost in a row, as in weight_matrix().
    for (int64_t i = spatial_; i-- > 0;) {
      llvm::SmallVector<mlir::Value> taps;
      for (int64_t tap = 0; tap < kernel_[i]; ++tap) taps.push_back(tap_of(x, i, tap));
      x = concat(taps, spatial_ + 1);
    }
    return x;
  }

  // w: [m, c, kernel...] as [kernel... * c, m], with rows in the order of unfold().
  mlir::Value weight_matrix(mlir::Value w) {
    const TensorType type = type_of(w);
    DimExpr depth = 1;
    for (DimExpr dim : type.getShape().drop_front(1)) depth = depth * dim;
    if (is_constant(w) && type.isStatic()) {
      const llvm::SmallVector<int64_t> dims = constant_dims(w);
      const int64_t rows = dims[0], channels = dims[1], count = *depth.as_constant();
      const int64_t taps = channels == 0 ? 0 : count / channels;
      return rearranged(builder_, w, {count, rows}, [&](const auto* from, auto* to) {
        for (int64_t row = 0; row < rows; ++row)
          for (int64_t channel = 0; channel < channels; ++channel)
            for (int64_t tap = 0; tap < taps; ++tap)
              to[(tap * channels + channel) * rows + row] =
                  from[(row * channels + channel) * taps + tap];
      });
    }
    llvm::SmallVector<int64_t> order;
    for (int64_t axis = 2; axis < spatial_ + 2; ++axis) order.push_back(axis);
    order.append({1, 0});
    return reshape(builder_, transpose(builder_, w, order), {depth, type.getDim(0)});
  }

  mlir::Value products(mlir::Value x) {
    const DimExpr channels = type_of(op_.getW()).getDim(1);
    const DimExpr rows = floordiv(type_of(op_.getW()).getDim(0), group_);
    llvm::SmallVector<mlir::Value> parts;
    for (int64_t g = 0; g < group_; ++g) {
      const mlir::Value a = unfold(part_of(x, spatial_ + 1, g, channels));
      const mlir::Value b = weight_matrix(part_of(op_.getW(), 0, g, rows));
      llvm::SmallVector<DimExpr> dims(type_of(a).getShape());
      dims.back() = rows;
      parts.push_back(builder_.create<graph::MatMulOp>(
          at(), type_of(op_.getResult()).withShape(dims), a, b, nullptr, nullptr));
    }
    return concat(parts, spatial_ + 1);
  }

  mlir::Value as_sums(mlir::Value x) {
    return builder_.create<graph::CastOp>(at(), type_of(x).withDType(DType::kI32), x, "i32");
  }

  mlir::Value depthwise(mlir::Value x) {
    const mlir::Value weights = as_sums(weight_matrix(op_.getW()));  // [taps, m]
    const DimExpr rows = type_of(op_.getW()).getDim(0);
    int64_t taps = 1;
    for (int64_t size : kernel_) taps *= size;
    mlir::Value sums;
    for (int64_t tap = 0; tap < taps; ++tap) {
      mlir::Value seen = x;
      int64_t rest = tap;
      // `tap` counts the taps in row-major order; the last axis varies fastest.
      for (int64_t i = spatial_; i-- > 0; rest /= kernel_[i])
        seen = tap_of(seen, i, rest % kernel_[i]);
      seen = as_sums(seen);
      const mlir::Value weight = reshape(builder_, part_of(weights, 0, tap, 1), {rows});
      const mlir::Value term = builder_.create<graph::MulOp>(at(), seen.getType(), seen, weight);
      sums = sums ? mlir::Value(builder_.create<graph::AddOp>(at(), seen.getType(), sums, term))
                  : term;
    }
    return sums;
  }

  graph::ConvOp op_;
  mlir::OpBuilder builder_;
  int64_t spatial_, group_;
  llvm::SmallVector<int64_t> kernel_;
};

}  // namespace

bool has_bytes(graph::ConvOp op) {
  return type_of(op.getX()).getDtype() == DType::kU8 && type_of(op.getW()).getDtype() == DType::kI8;
}

void expand(graph::ConvOp op) {
  // The taps of a large window are many ops.
  constexpr int64_t kMostTaps = 1024, kMostGroups = 1024;
  const TensorType w = type_of(op.getW());
  DimExpr taps = 1;
  for (DimExpr dim : w.getShape().drop_front(2)) taps = taps * dim;
  const std::optional<int64_t> count = taps.as_constant();
  const auto group = static_cast<int64_t>(op.getGroup());
  if (!has_bytes(op) || is_fixed(op) || !count || *count < 1 || *count > kMostTaps ||
      !w.getDim(0).as_constant() ||
      (group > kMostGroups && !(w.getDim(1).is_constant(1) && w.getDim(0).is_constant(group))) ||
      type_of(op.getX()).getDim(1) != w.getDim(1) * DimExpr(group))
    return;
  const mlir::Value sums = ByteConv(op).sums();
  op.getResult().replaceAllUsesWith(sums);
  op.erase();
}

}  // namespace scopevm::compiler::layouts
