// resize: one axis at a time, from the last to the first. Axes that keep their size and scale are
// skipped. For each other axis, a first launch computes a table: the indices in x, and their
// weights, for every position of the result. A second launch applies the table. Its loops over
// elements therefore need no division or rounding.
//
// A *tap* is one of the elements of x from which a result is interpolated.
#include "compiler/kernels/builder/kernel_builder.h"
#include "compiler/kernels/layout/strided_copy.h"
#include "compiler/kernels/op_lowerings.h"

namespace scopevm::compiler::kernels {
namespace {

// A value that a launch of this op reads or writes.
struct Stage {
  ValueId id;
  DType dtype;
};

// The number of taps along an axis.
int64_t taps_of(graph::ResizeMode mode) {
  switch (mode) {
    case graph::ResizeMode::kNearest:
      return 1;
    case graph::ResizeMode::kLinear:
      return 2;
    case graph::ResizeMode::kCubic:
      return 4;
  }
  return 1;
}

class TableKernel {
 public:
  TableKernel(graph::ResizeOp op, size_t axis, LoweringContext& context)
      : op_(op), axis_(axis), k_(context, op, "resize_table") {}

  // Appends the launch that computes the table of an axis with sizes `in` of x and `out` of the
  // result. `index` is i32[taps, out]; `weight` is f32[taps, out], and absent for one tap.
  llvm::LogicalResult lower(Stage index, std::optional<Stage> weight, DimExpr in, DimExpr out);

 private:
  Term coordinate(Term position, Term in, Term out);
  Term nearest(Term x);
  Term cubic_weight(Term distance, int64_t tap);

  graph::ResizeOp op_;
  size_t axis_;
  KernelBuilder k_;
};

// The position in x, as a real number, of result position `o`.
Term TableKernel::coordinate(Term o, Term in, Term out) {
  llvm::ArrayRef<float> scales = op_.getScales();
  // In ONNX, if `sizes` are given instead of `scales`, the scale is the quotient of the sizes.
  Term scale = scales.empty() ? out / in : in.number(static_cast<double>(scales[axis_]));
  auto half_pixel = [&] { return (o + 0.5) / scale - 0.5; };
  switch (op_.getCoordinates()) {
    case graph::ResizeCoordinates::kAsymmetric:
      return o / scale;
    case graph::ResizeCoordinates::kAlignCorners:
      return select(out == 1, out - out, o * (in - 1) / max(out - 1, out.number(1.0)));
    case graph::ResizeCoordinates::kTfHalfPixelForNn:
      return (o + 0.5) / scale;
    case graph::ResizeCoordinates::kHalfPixel:
      return half_pixel();
    case graph::ResizeCoordinates::kHalfPixelSymmetric:
      // The centre of the result maps to the centre of x, even though `out` is rounded.
      return half_pixel() + (in - out / scale) * 0.5;
    case graph::ResizeCoordinates::kPytorchHalfPixel:
      return select(out == 1, out - out, half_pixel());
  }
  return o;
}

Term TableKernel::nearest(Term x) {
  switch (op_.getRounding()) {
    case graph::ResizeRounding::kFloor:
      return floor(x);
    case graph::ResizeRounding::kCeil:
      return ceil(x);
    // The two roundings to nearest differ for ties only. floor(x + 0.5) rounds ties up, and
    // ceil(x - 0.5) rounds them down.
    case graph::ResizeRounding::kRoundPreferCeil:
      return floor(x + 0.5);
    case graph::ResizeRounding::kRoundPreferFloor:
      return ceil(x - 0.5);
  }
  return x;
}

// Keys' cubic convolution kernel (1981) at the distance of the tap from x. `distance` is
// x - floor(x).
Term TableKernel::cubic_weight(Term distance, int64_t tap) {
  auto a = static_cast<double>(op_.getCubicCoeff().convertToFloat());
  Term d = tap < 2 ? distance + (1 - tap) : (tap - 1) - distance;
  if (tap == 1 || tap == 2) return ((a + 2) * d - (a + 3)) * d * d + 1.0;
  return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a;
}

llvm::LogicalResult TableKernel::lower(Stage index, std::optional<Stage> weight, DimExpr in,
                                       DimExpr out) {
  Buffer indices = k_.result(index.id, index.dtype), weights;
  if (weight) weights = k_.result(weight->id, weight->dtype, Elements::kNumbers);
  mlir::Type f32 = k_.builder().getF32Type(), i32 = k_.builder().getI32Type();
  Term in_size = k_.param(in), out_size = k_.param(out);
  Term in_real = convert(in_size, f32), out_real = convert(out_size, f32);
  graph::ResizeMode mode = op_.getMode();
  int64_t taps = taps_of(mode);
  k_.loop(k_.begin(), k_.end(), 1, [&](Term o) {
    Term x = coordinate(convert(o, f32), in_real, out_real);
    Term whole = mode == graph::ResizeMode::kNearest ? nearest(x) : floor(x), distance = x - whole;
    Terms tap_weights;
    Term sum = distance.number(0.0), last = in_size - 1;
    for (int64_t tap = 0; tap < taps; ++tap) {
      Term at = convert(whole, k_.index_type()) + (taps == 4 ? tap - 1 : tap);
      k_.store(indices, out_size * tap + o, convert(clamp(at, k_.index(0), last), i32));
      Term w = distance.number(1.0);
      if (taps == 2) w = tap == 0 ? 1.0 - distance : distance;
      if (taps == 4) w = cubic_weight(distance, tap);
      if (op_.getExcludeOutside()) w = select((0 <= at) & (at <= last), w, distance.number(0.0));
      sum = sum + w;
      tap_weights.push_back(w);
    }
    for (int64_t tap = 0; weight && tap < taps; ++tap)
      k_.store(weights, out_size * tap + o,
               op_.getExcludeOutside() ? tap_weights[tap] / sum : tap_weights[tap]);
  });
  return k_.launch(out, grain_of_bytes(8 * taps));
}

// Applies a table along one axis. j is the index on the axis; o and i are the indices on the dims
// before and after it:
//   y[o, j, i] = sum over taps of weight[tap, j] * x[o, index[tap, j], i]
class AxisKernel {
 public:
  AxisKernel(graph::ResizeOp op, Stage x, Stage index, std::optional<Stage> weight, Stage y,
             LoweringContext& context)
      : k_(context, op, ("resize_" + graph::stringifyResizeMode(op.getMode())).str()),
        taps_(taps_of(op.getMode())),
        elements_(taps_ == 1 ? Elements::kBits : Elements::kNumbers),
        x_(k_.operand(x.id, x.dtype, elements_)),
        index_(k_.operand(index.id, index.dtype)),
        y_(k_.result(y.id, y.dtype, elements_)) {
    if (weight) weights_ = k_.operand(weight->id, weight->dtype, Elements::kNumbers);
  }

  llvm::LogicalResult lower(DimExpr outer, DimExpr in, DimExpr out, DimExpr inner) {
    Term n = k_.param(in), m = k_.param(out), row = k_.param(inner);
    llvm::SmallVector<Axis> axes = {{outer, {in * inner, out * inner}}};
    // On the last axis, the taps of adjacent results are not adjacent. The results are therefore
    // computed one by one.
    bool by_element = inner.is_constant(1);
    if (!by_element) axes.push_back({out, {0, inner}});
    k_.for_items(axes, {0, 0}, [&](auto index, auto offsets) {
      auto position = [&](Term j, Term to) {
        Terms starts, weights;
        for (int64_t tap = 0; tap < taps_; ++tap) {
          // The first launch clamps the indices. Clamping them again keeps the access in bounds for
          // any contents of the table.
          Term picked =
              clamp(convert(k_.load(index_, m * tap + j), k_.index_type()), k_.index(0), n - 1);
          starts.push_back(offsets[0] + picked * row);
          if (weights_.memref) weights.push_back(k_.load(weights_, m * tap + j));
        }
        emit_row(starts, weights, to, row, by_element);
      };
      auto resample = [&] {
        if (by_element)
          k_.loop(k_.index(0), m, 1, [&](Term j) { position(j, offsets[1] + j); });
        else
          position(index[1], offsets[1]);
      };
      Term item = by_element ? m : row;
      // An empty axis has no elements to interpolate. The result is then 0.
      k_.when(k_.index(0) < n, resample, [&] { k_.fill(y_, offsets[1], item, k_.zero(y_)); });
    });
    DimExpr item = by_element ? out : inner;
    return k_.launch(count_items(axes), grain_of_bytes(item * (taps_ * byte_size(y_.dtype))));
  }

 private:
  void emit_row(const Terms& starts, const Terms& weights, Term to, Term row, bool by_element) {
    if (taps_ == 1 && !by_element) return k_.copy(x_, starts[0], y_, to, row);
    if (taps_ == 1) return k_.store(y_, to, k_.load(x_, starts[0]));
    auto element = [&](Term i) {
      k_.store_number(y_, to + i, sum(weights, 1, [&](int64_t tap) {
                        return k_.load_number(x_, starts[tap] + i);
                      }));
    };
    if (by_element) return element(k_.index(0));
    if (x_.dtype != y_.dtype || x_.dtype == DType::kF16 || x_.dtype == DType::kBF16)
      return k_.loop(k_.index(0), row, 1, element);
    k_.for_lanes(row, k_.lanes(y_.dtype), Tail::kOverlapping, [&](const Lanes& part) {
      Term total = sum(weights, part.count, [&](int64_t tap) {
        return k_.load(x_, starts[tap] + part.offset, part.count, part.mask);
      });
      k_.store(y_, to + part.offset, total, part.mask);
    });
  }

  Term sum(const Terms& weights, int64_t lanes, llvm::function_ref<Term(int64_t)> element) {
    Term total;
    for (int64_t tap = 0; tap < taps_; ++tap) {
      Term x = element(tap);
      mlir::Type type = mlir::getElementTypeOrSelf(x.type());
      Term term = x * k_.splat(convert(weights[tap], type), lanes);
      total = total ? total + term : term;
    }
    return total;
  }

  KernelBuilder k_;
  int64_t taps_;
  Elements elements_;
  Buffer x_, index_, y_, weights_;
};

}  // namespace

llvm::LogicalResult lower(graph::ResizeOp op, LoweringContext& context) {
  Dims now(shape_of(op.getX()));
  llvm::ArrayRef<DimExpr> out = shape_of(op.getResult());
  DType dtype = dtype_of(op.getX());
  llvm::SmallVector<size_t> axes;
  for (size_t d = now.size(); d-- > 0;) {
    // An axis with equal sizes is still resampled if its scale is not 1: coordinates depend on the
    // scale.
    bool keeps_scale = op.getScales().empty() || op.getScales()[d] == 1.0f;
    if (!(now[d] == out[d] && keeps_scale)) axes.push_back(d);
  }
  // Between two axes, interpolated values of 16-bit floats are stored as f32.
  DType between =
      op.getMode() == graph::ResizeMode::kNearest || byte_size(dtype) > 2 ? dtype : DType::kF32;
  Stage x{context.value_of(op.getX()), dtype};
  for (size_t d : axes) {
    int64_t taps = taps_of(op.getMode());
    Stage index{context.intermediate("resize_index", DType::kI32, {taps, out[d]}), DType::kI32};
    std::optional<Stage> weight;
    if (taps > 1)
      weight = {context.intermediate("resize_weight", DType::kF32, {taps, out[d]}), DType::kF32};
    if (failed(TableKernel(op, d, context).lower(index, weight, now[d], out[d])))
      return mlir::failure();
    DimExpr outer = product(now, 0, d), inner = product(now, d + 1, now.size()), in = now[d];
    now[d] = out[d];
    bool is_last = d == axes.back();
    Stage y{is_last ? context.value_of(op.getResult())
                    : context.intermediate("resized", between, {now.begin(), now.end()}),
            is_last ? dtype : between};
    if (failed(AxisKernel(op, x, index, weight, y, context).lower(outer, in, out[d], inner)))
      return mlir::failure();
    x = y;
  }
  if (!axes.empty()) return mlir::success();
  return lower_strided_copy(op, context, op.getX(), op.getResult(),
                            {.axes = {{element_count(out), {1, 1}}}});
}

}  // namespace scopevm::compiler::kernels
