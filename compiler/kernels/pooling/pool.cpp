// max_pool and average_pool: a work item is one row of results. The columns whose windows are
// inside x are computed as vectors. Columns at the border are computed one by one, as are all
// columns for strides above 2 and for 16-bit floats.
//
// In blocked images, a work item is a row of pixels, each with the 16 channels of a block. A column
// of pixels is reduced once for all windows of the row that have it.
#include <limits>

#include "compiler/graph/convolution/window.h"
#include "compiler/kernels/builder/kernel_builder.h"
#include "compiler/kernels/op_lowerings.h"
#include "compiler/schedule/pooling.h"

namespace scopevm::compiler::kernels {
namespace {

enum class Pool : uint8_t { kMax, kAverage, kAverageWithPads };

// One spatial axis: its sizes as expressions, and as terms of the kernel.
struct SpatialAxis {
  DimExpr size, padded_end;  // of x: the size, and the end of the padding after it
  DimExpr out;               // the size of the result
  int64_t kernel, stride, dilation, before;
  Term size_value, padded_end_value, kernel_value, stride_value, dilation_value, before_value;
  Term row_stride;  // distance in x between adjacent positions on this axis
};

// The taps of a window, which are its elements, along one axis. Tap t is at position start + t *
// dilation. Taps [low, high) are inside x, out of `size` taps. `counted` is the number of taps that
// a mean counts.
struct Taps {
  Term start, low, high, counted;
  int64_t size = 1;
};

template <typename Op>
schedule::PoolProblem problem_of(Op op) {
  const llvm::ArrayRef<DimExpr> x = shape_of(op.getX()), y = shape_of(op.getResult());
  const size_t rank = op.getKernel().size();
  const DType dtype = dtype_of(op.getX());
  schedule::PoolProblem problem{
      .is_blocked = rank > 1 && dtype == DType::kF32 && op.getKernel().back() == 1 &&
                    op.getStrides().back() == 1 && op.getPads()[rank - 1] == 0 &&
                    x.back().is_constant(graph::kChannelBlock) &&
                    y.back().is_constant(graph::kChannelBlock),
      .element_bytes = static_cast<int>(byte_size(dtype)),
      .is_converted = dtype == DType::kF16 || dtype == DType::kBF16};
  for (size_t d = 0; d < rank; ++d)
    problem.axes.push_back({op.getKernel()[d], op.getStrides()[d], op.getDilations()[d]});
  return problem;
}

class PoolKernel {
 public:
  template <typename Op>
  PoolKernel(Op op, Pool pool, LoweringContext& context)
      : k_(context, op, pool == Pool::kMax ? "max_pool" : "average_pool"),
        pool_(pool),
        problem_(problem_of(op)),
        schedule_(schedule::choose_pool(problem_, k_.target())),
        x_(k_.operand(op.getX(), Elements::kNumbers)),
        result_(k_.result(op.getResult(), Elements::kNumbers)) {
    llvm::ArrayRef<DimExpr> x = shape_of(op.getX()), y = shape_of(op.getResult());
    planes_ = product(x, 0, 2);
    Dims x_strides = row_major_strides(x);
    size_t rank = op.getKernel().size();
    for (size_t d = 0; d < rank; ++d) {
      DimExpr size = x[d + 2];
      SpatialAxis axis{.size = size,
                       .padded_end = size + op.getPads()[rank + d],
                       .out = y[d + 2],
                       .kernel = op.getKernel()[d],
                       .stride = op.getStrides()[d],
                       .dilation = op.getDilations()[d],
                       .before = op.getPads()[d]};
      axis.size_value = k_.param(size);
      if (pool == Pool::kAverageWithPads) axis.padded_end_value = k_.param(axis.padded_end);
      axis.kernel_value = k_.index(axis.kernel);
      axis.stride_value = k_.param(axis.stride);
      axis.dilation_value = k_.param(axis.dilation);
      axis.before_value = k_.param(axis.before);
      axis.row_stride = k_.param(x_strides[d + 2]);
      axes_.push_back(axis);
    }
  }

  llvm::LogicalResult lower();

 private:
  Taps taps_at(const SpatialAxis& axis, Term out);
  Term first(int64_t lanes);
  Term combine(Term so_far, Term element);
  // Adjacent columns of a row of results, computed as a vector or, for one lane, as a scalar.
  struct Columns {
    Term out;  // the first one
    int64_t lanes;
    Term count;  // the columns that exist; null: all lanes
  };
  Term load_columns(Term at, const Columns& columns);
  Term reduce(size_t axis, llvm::ArrayRef<Taps> taps, Term at, const Columns& columns, Term so_far);
  Term reduce_all(size_t axis, llvm::ArrayRef<Taps> taps, Term at, const Columns& columns,
                  Term so_far);
  Term reduce_window(llvm::ArrayRef<Taps> taps, Term plane, const Columns& columns);
  void emit_columns(llvm::ArrayRef<Taps> outer, Term plane, Term to, const Columns& columns);
  void store(llvm::ArrayRef<Taps> taps, Term value, Term to, const Columns& columns);
  void emit_row(llvm::ArrayRef<Taps> outer, Term plane, Term to);
  void each_channels(llvm::function_ref<void(const Columns&)> body);
  void emit_pixel(llvm::ArrayRef<Taps> outer, Term plane, Term to);
  void emit_overlapping(llvm::ArrayRef<Taps> outer, Term plane, Term to);
  void emit_pixels(llvm::ArrayRef<Taps> outer, Term plane, Term to);

  KernelBuilder k_;
  Pool pool_;
  const schedule::PoolProblem problem_;
  const schedule::PoolSchedule schedule_;
  Buffer x_, result_;
  DimExpr planes_;
  llvm::SmallVector<SpatialAxis> axes_;
  Term columns_, inside_low_, inside_high_;
  Term pixels_, inside_pixel_, outside_pixel_;  // blocked images: the pixels inside are between
};

Taps PoolKernel::taps_at(const SpatialAxis& axis, Term out) {
  Term zero = k_.index(0), start = out * axis.stride_value - axis.before_value;
  // The number of taps before position `end`.
  auto taps_below = [&](Term end) {
    Term distance = max(end - start, zero);
    if (axis.dilation != 1) distance = ceil_quotient(distance, axis.dilation_value);
    return min(distance, axis.kernel_value);
  };
  Taps taps{.start = start, .high = taps_below(axis.size_value), .size = axis.kernel};
  // The first tap at or after position 0.
  taps.low = min(ceil_quotient(max(zero - start, zero), axis.dilation_value), taps.high);
  taps.counted =
      pool_ == Pool::kAverageWithPads ? taps_below(axis.padded_end_value) : taps.high - taps.low;
  return taps;
}

// The initial value of a window: the minimum value for a maximum, otherwise 0.
Term PoolKernel::first(int64_t lanes) {
  mlir::Type type = k_.number_type(x_);
  Term zero = convert(k_.index(0), type);
  if (pool_ != Pool::kMax) return k_.splat(zero, lanes);
  if (mlir::isa<mlir::FloatType>(type))
    return k_.splat(zero.number(-std::numeric_limits<double>::infinity()), lanes);
  if (is_unsigned(x_.dtype)) return k_.splat(zero, lanes);
  unsigned bits = type.getIntOrFloatBitWidth();
  return k_.splat(zero.integer(std::numeric_limits<int64_t>::min() >> (64 - bits)), lanes);
}

// A maximum ignores NaNs, as in ONNX Runtime.
Term PoolKernel::combine(Term so_far, Term element) {
  if (pool_ != Pool::kMax) return so_far + element;
  return select(less(so_far, element, is_unsigned(x_.dtype)), element, so_far);
}

// Loads the elements at, at + stride, at + 2 * stride, ... of x. For stride 2, they are the even
// elements of two vectors.
Term PoolKernel::load_columns(Term at, const Columns& columns) {
  const int64_t lanes = columns.lanes, stride = axes_.back().stride;
  if (lanes == 1) return k_.load_number(x_, at);
  const auto load = [&](int64_t offset) {
    Term mask;
    if (columns.count) {
      const Term elements = (columns.count - 1) * stride + (1 - offset);
      mask = k_.mask(max(elements, k_.index(0)), lanes);
    }
    return k_.load(x_, at + offset, lanes, mask);
  };
  Term low = load(0);
  if (stride == 1) return low;
  llvm::SmallVector<int64_t> even;
  for (int64_t lane = 0; lane < lanes; ++lane) even.push_back(2 * lane);
  return k_.shuffle(low, load(lanes), even);
}

// Accumulates the taps of a window on axes [axis, rank). `at` is the position in x that the earlier
// axes determine.
Term PoolKernel::reduce(size_t axis, llvm::ArrayRef<Taps> taps, Term at, const Columns& columns,
                        Term so_far) {
  if (axis == axes_.size()) return combine(so_far, load_columns(at, columns));
  const SpatialAxis& along = axes_[axis];
  auto accumulate = [&](Term tap, llvm::ArrayRef<Term> carried) {
    Term position = taps[axis].start + tap * along.dilation_value;
    Term next = at + position * along.row_stride;
    return Terms{reduce(axis + 1, taps, next, columns, carried[0])};
  };
  Term low = taps[axis].low, high = taps[axis].high;
  return k_.loop(low, high, 1, {so_far}, accumulate)[0];
}

bool is_unrolled(llvm::ArrayRef<Taps> taps) {
  int64_t count = 1;
  for (const Taps& axis : taps)
    if (schedule::unrolls_window(count)) count *= axis.size;
  return schedule::unrolls_window(count);
}

// As reduce(), for windows that are inside x, without loops.
Term PoolKernel::reduce_all(size_t axis, llvm::ArrayRef<Taps> taps, Term at, const Columns& columns,
                            Term so_far) {
  if (axis == axes_.size()) return combine(so_far, load_columns(at, columns));
  const SpatialAxis& along = axes_[axis];
  const Term start = at + taps[axis].start * along.row_stride;
  for (int64_t tap = 0; tap < taps[axis].size; ++tap)
    so_far = reduce_all(axis + 1, taps, start + along.row_stride * (tap * along.dilation), columns,
                        so_far);
  return so_far;
}

// Accumulates the taps of a window.
Term PoolKernel::reduce_window(llvm::ArrayRef<Taps> taps, Term plane, const Columns& columns) {
  const auto by_loops = [&] { return reduce(0, taps, plane, columns, first(columns.lanes)); };
  if (columns.lanes == 1 || !is_unrolled(taps)) return by_loops();
  // The taps of a vector are inside x on the last axis.
  Term is_inside = k_.boolean(true);
  for (size_t axis = 0; axis + 1 < axes_.size(); ++axis)
    is_inside = is_inside & (taps[axis].high - taps[axis].low == taps[axis].size);
  const Term initial = first(columns.lanes);
  return k_.branch(
      is_inside, initial.type(),
      [&] { return Terms{reduce_all(0, taps, plane, columns, initial)}; },
      [&] { return Terms{by_loops()}; })[0];
}

void PoolKernel::emit_columns(llvm::ArrayRef<Taps> outer, Term plane, Term to,
                              const Columns& columns) {
  const SpatialAxis& along = axes_.back();
  const Term out = columns.out;
  const int64_t lanes = columns.lanes;
  llvm::SmallVector<Taps> taps(outer);
  if (lanes == 1) {
    taps.push_back(taps_at(along, out));
  } else {
    Term start = out * along.stride_value - along.before_value;
    taps.push_back({start, k_.index(0), along.kernel_value, along.kernel_value, along.kernel});
  }
  store(taps, reduce_window(taps, plane, columns), to, columns);
}

// Stores the value of windows with these taps.
void PoolKernel::store(llvm::ArrayRef<Taps> taps, Term value, Term to, const Columns& columns) {
  const int64_t lanes = columns.lanes;
  if (pool_ != Pool::kMax) {
    // ONNX count_include_pad selects whether taps in the padding count.
    Term count = k_.index(1);
    for (const Taps& axis : taps) count = count * axis.counted;
    mlir::Type type = mlir::getElementTypeOrSelf(value.type());
    value = value / k_.splat(convert(max(count, k_.index(1)), type), lanes);
  }
  if (lanes == 1)
    k_.store_number(result_, to + columns.out, value);
  else
    k_.store(result_, to + columns.out, value,
             columns.count ? k_.mask(columns.count, lanes) : Term());
}

void PoolKernel::emit_row(llvm::ArrayRef<Taps> outer, Term plane, Term to) {
  auto one_by_one = [&](Term low, Term high) {
    k_.loop(low, high, 1, [&](Term out) { emit_columns(outer, plane, to, {out, 1, {}}); });
  };
  if (schedule_.lanes == 1) return one_by_one(k_.index(0), columns_);
  Term inside = inside_high_ - inside_low_, rest = remainder(inside, k_.index(schedule_.lanes));
  one_by_one(k_.index(0), inside_low_);
  const auto vector = [&](Term out, Term count = {}) {
    emit_columns(outer, plane, to, {out, schedule_.lanes, count});
  };
  k_.loop(inside_low_, inside_high_ - rest, schedule_.lanes, [&](Term out) { vector(out); });
  if (k_.target().has_masks) {
    k_.when(0 < rest, [&] { vector(inside_high_ - rest, rest); });
    return one_by_one(inside_high_, columns_);
  }
  // The last vector can overlap the previous one. Fewer inside columns than lanes are computed one
  // by one.
  Term fits = k_.index(schedule_.lanes) <= inside;
  k_.when(fits & (0 < rest), [&] { vector(inside_high_ - schedule_.lanes); });
  one_by_one(select(fits, inside_high_, inside_low_), columns_);
}

void PoolKernel::each_channels(llvm::function_ref<void(const Columns&)> body) {
  for (int64_t lane = 0; lane < graph::kChannelBlock; lane += schedule_.lanes)
    body({k_.index(lane), schedule_.lanes, {}});
}

// Emits the channels of a pixel.
void PoolKernel::emit_pixel(llvm::ArrayRef<Taps> outer, Term plane, Term to) {
  if (schedule_.lanes == 1 || graph::kChannelBlock % schedule_.lanes != 0)
    return emit_row(outer, plane, to);
  each_channels([&](const Columns& channels) { emit_columns(outer, plane, to, channels); });
}

// Emits the pixels of a row whose columns of pixels are inside x. Each column is reduced once for
// all windows that have it.
void PoolKernel::emit_overlapping(llvm::ArrayRef<Taps> outer, Term plane, Term to) {
  const SpatialAxis& along = axes_[axes_.size() - 2];
  const int64_t shared = schedule_.shared_columns, per_pixel = graph::kChannelBlock;
  const Term one = k_.index(1), count = k_.index(along.kernel);
  const auto taps_of = [&](Term x, Term size, int64_t known) {
    llvm::SmallVector<Taps> taps(outer);
    taps.push_back({x, k_.index(0), size, size, known});
    taps.push_back({k_.index(0), k_.index(0), one, one});
    return taps;
  };
  const auto column = [&](Term x, const Columns& channels) {
    return reduce_window(taps_of(x, one, 1), plane + channels.out, channels);
  };
  const Term first = inside_pixel_ * along.stride - along.before;
  k_.when(inside_pixel_ < outside_pixel_, [&] {
    Terms columns;
    each_channels([&](const Columns& channels) {
      for (int64_t x = 0; x < shared; ++x) columns.push_back(column(first + x, channels));
    });
    k_.loop(inside_pixel_, outside_pixel_, 1, columns, [&](Term out, auto carried) {
      const Term start = out * along.stride - along.before;
      const llvm::SmallVector<Taps> taps = taps_of(start, count, along.kernel);
      Terms next;
      size_t from = 0;
      each_channels([&](const Columns& channels) {
        Terms window(carried.slice(from, static_cast<size_t>(shared)));
        from += static_cast<size_t>(shared);
        for (int64_t x = shared; x < along.kernel; ++x)
          window.push_back(column(start + x, channels));
        Term value = window.front();
        for (const Term other : llvm::ArrayRef<Term>(window).drop_front())
          value = combine(value, other);
        store(taps, value, to + out * per_pixel, channels);
        next.append(window.end() - shared, window.end());
      });
      return next;
    });
  });
}

// Emits a row of pixels. All taps of those inside are inside x along this row.
void PoolKernel::emit_pixels(llvm::ArrayRef<Taps> outer, Term plane, Term to) {
  const SpatialAxis& along = axes_[axes_.size() - 2];
  const int64_t per_pixel = graph::kChannelBlock;
  const auto each = [&](Term low, Term high, llvm::function_ref<Taps(Term)> taps_of) {
    k_.loop(low, high, 1, [&](Term out) {
      llvm::SmallVector<Taps> taps(outer);
      taps.push_back(taps_of(out));
      emit_pixel(taps, plane, to + out * per_pixel);
    });
  };
  const auto at_border = [&](Term out) { return taps_at(along, out); };
  const auto inside = [&](Term out) {
    const Term count = k_.index(along.kernel);
    return Taps{out * along.stride - along.before, k_.index(0), count, count, along.kernel};
  };
  each(k_.index(0), inside_pixel_, at_border);
  if (schedule_.shared_columns > 0)
    emit_overlapping(outer, plane, to);
  else
    each(inside_pixel_, outside_pixel_, inside);
  each(outside_pixel_, pixels_, at_border);
}

llvm::LogicalResult PoolKernel::lower() {
  SpatialAxis& last = axes_.back();
  columns_ = k_.param(last.out);
  if (schedule_.lanes > 1) {
    // A column is computed in a vector under two conditions. Its first tap is at position 0 or
    // later, and the `stride` elements from its last tap on are in x. The loads of a strided vector
    // then stay in the row.
    DimExpr low = min(ceildiv(last.before, last.stride), last.out);
    int64_t reach = (last.kernel - 1) * last.dilation + last.stride;
    DimExpr high = floordiv(last.size + (last.before - reach), last.stride) + 1;
    inside_low_ = k_.param(low);
    inside_high_ = k_.param(max(low, min(high, last.out)));
  }
  DimExpr plane = 1, out_plane = 1, taps = last.kernel;
  for (const SpatialAxis& axis : axes_) {
    plane = plane * axis.size;
    out_plane = out_plane * axis.out;
  }
  llvm::SmallVector<Axis> items = {{planes_, {plane, out_plane}}};
  const size_t row_axes = problem_.is_blocked ? 2 : 1;
  DimExpr row = last.out;
  if (row_axes == 2) {
    const SpatialAxis& along = axes_[axes_.size() - 2];
    const DimExpr low = min(ceildiv(along.before, along.stride), along.out);
    const int64_t reach = (along.kernel - 1) * along.dilation + 1;
    const DimExpr high = floordiv(along.size + (along.before - reach), along.stride) + 1;
    pixels_ = k_.param(along.out);
    inside_pixel_ = k_.param(low);
    outside_pixel_ = k_.param(max(low, min(high, along.out)));
    row = row * along.out;
    taps = taps * along.kernel;
  }
  for (size_t d = 0; d + row_axes < axes_.size(); ++d) {
    DimExpr inner = 1;
    for (size_t e = d + 1; e < axes_.size(); ++e) inner = inner * axes_[e].out;
    items.push_back({axes_[d].out, {0, inner}});
    taps = taps * axes_[d].kernel;
  }
  k_.for_items(items, {0, 0}, [&](auto index, auto offsets) {
    llvm::SmallVector<Taps> outer;
    for (size_t d = 0; d + row_axes < axes_.size(); ++d)
      outer.push_back(taps_at(axes_[d], index[d + 1]));
    if (row_axes == 2) return emit_pixels(outer, offsets[0], offsets[1]);
    emit_row(outer, offsets[0], offsets[1]);
  });
  return k_.launch(count_items(items), grain_of_bytes(row * taps * byte_size(x_.dtype)));
}

}  // namespace

llvm::LogicalResult lower(graph::MaxPoolOp op, LoweringContext& context) {
  return PoolKernel(op, Pool::kMax, context).lower();
}

llvm::LogicalResult lower(graph::AveragePoolOp op, LoweringContext& context) {
  Pool pool = op.getCountPads() ? Pool::kAverageWithPads : Pool::kAverage;
  return PoolKernel(op, pool, context).lower();
}

}  // namespace scopevm::compiler::kernels
