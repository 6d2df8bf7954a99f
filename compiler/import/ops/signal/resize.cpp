// ONNX Resize and Upsample. Most nodes become one sv.resize. The cases that it does not support are
// emitted one axis at a time. Run-time scales, a region of x, and align_corners with a fractional
// scale become a gather of weighted neighbours. Antialias becomes a product with a weight matrix.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "compiler/graph/type_rule.h"
#include "compiler/import/node/formula.h"
#include "compiler/import/ops/op_table.h"

namespace scopevm::compiler::frontend {
namespace {

using namespace graph;  // NOLINT: formulas read better without the prefix

// The parameters of a node, for all axes of x.
struct Resample {
  std::string mode, coordinates, rounding;
  Dims dims;                        // of the result
  llvm::SmallVector<float> scales;  // empty if they are known at run time or follow from `dims`
  Value run_time_scales;            // f32, rank 1; null if known at compile time
  Value roi;                        // f32: all starts, then all ends; only for tf_crop_and_resize
  bool antialias = false;
  bool exclude_outside = false;
  float cubic_coeff = -0.75f;
};

// floor(dim * scale), as a quotient of integers: a float scale equals p / q, where q is a power of
// two.
DimExpr scaled(Node& n, DimExpr dim, float scale) {
  if (!(scale > 0) || scale > (1 << 20))
    return n.fail("scale is " + std::to_string(scale) +
                  ", expected more than 0 and at most 1048576"),
           dim;
  if (auto c = dim.as_constant())
    // ONNX multiplies in f32, the type of the scales. The rounding can change the result's dim.
    return static_cast<int64_t>(std::floor(static_cast<float>(*c) * scale));
  double p = scale;
  int64_t q = 1;
  // Doubling is exact. A scale of at least 1 has at most 23 fractional bits. A smaller scale with
  // more than 24 fractional bits is rejected.
  while (p != std::floor(p) && q < (1 << 24)) p *= 2, q *= 2;
  if (p != std::floor(p))
    return n.unsupported("scale " + std::to_string(scale) +
                         " is not supported for the dynamic dim " + dim.str()),
           dim;
  return floordiv(dim * DimExpr(static_cast<int64_t>(p)), q);
}

// --- One axis of the cases that sv.resize does not support. -------------------------------------

class AxisResampler {
 public:
  AxisResampler(Node& n, const Resample& r, Value x, int64_t axis)
      : n_(n),
        r_(r),
        x_(n, x),
        axis_(axis),
        from_(n.dim(x, axis)),
        to_(r.dims[static_cast<size_t>(axis)]),
        in_(number(n, from_, DType::kF32)),
        out_(number(n, to_, DType::kF32)),
        scale_(scale()) {}

  Formula resample() {
    if (n_.has_failed()) return x_;
    // Equal dims are not sufficient: floor(dim * 1.01) can equal dim, but the coordinates differ.
    bool is_kept = from_ == to_ && r_.scales.empty() && !r_.run_time_scales && !r_.roi;
    if (is_kept || (from_ == to_ && !r_.scales.empty() && known_scale() == 1 && !r_.roi)) return x_;
    if (r_.antialias && r_.mode != "nearest") return by_matrix();
    Formula at = coordinate();
    Formula y = r_.mode == "nearest" ? x_.gather(index(nearest(at)), axis_) : by_taps(at);
    // tf_crop_and_resize replaces results at coordinates outside x by the extrapolation value.
    if (!r_.roi) return y;
    Formula is_inside = along_axis((at.scalar(0) <= at) & (at <= in_ - 1.0));
    return select(is_inside, y, n_.number("extrapolation_value", 0));
  }

 private:
  float known_scale() const { return r_.scales[static_cast<size_t>(axis_)]; }

  Formula scale() {
    if (r_.run_time_scales) return Formula(n_, r_.run_time_scales).element_at(0, axis_);
    if (!r_.scales.empty()) return {n_, n_.scalar(known_scale(), DType::kF32)};
    return out_ / in_;
  }

  // The result's length in coordinate formulas. If it is computed from a scale, it may be
  // fractional: ONNX rounds only the result's dim.
  Formula length() { return r_.run_time_scales || !r_.scales.empty() ? scale_ * in_ : out_; }

  // The region's start (0) or end (1) on this axis.
  Formula region(int64_t end) { return Formula(n_, r_.roi).element_at(0, end * x_.rank() + axis_); }

  // The real-valued coordinates in x of the result's positions.
  Formula coordinate() {
    Formula o = iota(n_, to_, DType::kF32);
    Formula half_pixel = (o + 0.5) / scale_ - 0.5;
    const std::string& mode = r_.coordinates;
    if (mode == "asymmetric") return o / scale_;
    if (mode == "align_corners") return o * (in_ - 1.0) / max(length() - 1.0, 1.0);
    if (mode == "tf_half_pixel_for_nn") return (o + 0.5) / scale_;
    if (mode == "half_pixel_symmetric") return half_pixel + (in_ - out_ / scale_) * 0.5;
    if (mode == "pytorch_half_pixel") return select(out_ == 1.0, o * 0.0, half_pixel);
    if (mode != "tf_crop_and_resize") return half_pixel;
    Formula start = region(0), end = region(1), last = in_ - 1.0;
    Formula spread = o * ((end - start) * last) / max(out_ - 1.0, 1.0) + start * last;
    return select(out_ == 1.0, (start + end) * last * 0.5 + o * 0.0, spread);
  }

  Formula nearest(const Formula& x) {
    if (r_.rounding == "floor") return floor(x);
    if (r_.rounding == "ceil") return ceil(x);
    // The two roundings to the nearest integer differ only for ties.
    return r_.rounding == "round_prefer_ceil" ? floor(x + 0.5) : ceil(x - 0.5);
  }

  Formula index(const Formula& whole) { return clamp(whole, 0, in_ - 1.0).as(DType::kI64); }

  // Reshapes a rank-1 formula over the axis so that it broadcasts against x.
  Formula along_axis(const Formula& x) {
    Dims dims(static_cast<size_t>(x_.rank()), DimExpr(1));
    dims[static_cast<size_t>(axis_)] = to_;
    return x.reshape(dims);
  }

  // The weight, set to 0 for neighbours outside x if exclude_outside.
  Formula counted(const Formula& weight, const Formula& at) {
    if (!r_.exclude_outside) return weight;
    return select((at.scalar(0) <= at) & (at <= in_ - 1.0), weight, 0.0);
  }

  Formula by_taps(const Formula& at) {
    Formula low = floor(at), fraction = at - low;
    bool is_cubic = r_.mode == "cubic";
    llvm::SmallVector<Formula> indices, weights;
    for (int tap = is_cubic ? -1 : 0; tap <= (is_cubic ? 2 : 1); ++tap) {
      Formula neighbour = low + static_cast<double>(tap);
      Formula distance = abs(fraction - static_cast<double>(tap));
      weights.push_back(
          counted(is_cubic ? cubic_weight(distance, r_.cubic_coeff) : 1.0 - distance, neighbour));
      indices.push_back(index(neighbour));
    }
    // If neighbours are excluded, the other weights do not add up to 1. They are divided by their
    // sum.
    Formula total = std::accumulate(weights.begin() + 1, weights.end(), weights.front());
    std::optional<Formula> y;
    for (size_t i = 0; i < weights.size(); ++i) {
      Formula weight = r_.exclude_outside ? weights[i] / total : weights[i];
      Formula term = x_.gather(indices[i], axis_) * along_axis(weight).as(x_.dtype());
      y = y ? *y + term : term;
    }
    return *y;
  }

  // Antialias: if the result is smaller than x, the filter is stretched so that all elements of x
  // contribute. The weights form a matrix [result, padded x]. The padding repeats the edges of x
  // over the filter's support.
  Formula by_matrix() {
    Formula stretch = min(scale_, 1.0);
    DimExpr reach = 3;
    if (r_.run_time_scales)
      return n_.unsupported("antialias with data-dependent scales is not supported"), x_;
    if (!r_.scales.empty())
      // The support of the cubic filter is 2 on each side, stretched by 1/scale.
      reach = static_cast<int64_t>(std::ceil(2 / std::min(1.0f, known_scale()))) + 1;
    else if (to_ != from_)
      reach = ceildiv(from_ * DimExpr(2), max(to_, DimExpr(1))) + 3;
    Formula position =
        (iota(n_, from_ + reach * DimExpr(2), DType::kF32) - number(n_, reach, DType::kF32))
            .unsqueeze({0});
    Formula distance = abs(position - coordinate().unsqueeze({1})) * stretch;
    Formula weight =
        r_.mode == "cubic" ? cubic_weight(distance, r_.cubic_coeff) : max(1.0 - distance, 0.0);
    weight = counted(weight, position);
    weight = weight / Formula(n_, n_.reduce_sum(weight, {1}));
    Dims pads(2 * static_cast<size_t>(x_.rank()), DimExpr(0));
    pads[static_cast<size_t>(axis_)] = pads[static_cast<size_t>(axis_ + x_.rank())] = reach;
    Formula padded(n_, n_.emit<PadOp>({x_}, {n_.attr("pads", pads), n_.attr("mode", "edge")}));
    Formula lines = padded.move_axis(axis_, x_.rank() - 1);
    Formula y(n_,
              n_.emit<MatMulOp>({lines, weight.as(x_.dtype())}, {n_.attr("transpose_b", true)}));
    return y.move_axis(x_.rank() - 1, axis_);
  }

  Node& n_;
  const Resample& r_;
  Formula x_;
  int64_t axis_;
  DimExpr from_, to_;
  Formula in_, out_, scale_;
};

Value resample(Node& n, Value x, const Resample& r) {
  if (n.has_failed()) return {};
  bool is_nearest = r.mode == "nearest", is_real = is_float(n.dtype(x));
  // align_corners divides by the length of the result, which is fractional for a fractional scale.
  // sv.resize has only the rounded length.
  bool needs_fractional_length =
      r.coordinates == "align_corners" &&
      llvm::any_of(r.scales, [](float scale) { return scale != std::floor(scale); });
  bool is_plain =
      !r.run_time_scales && !r.roi && !needs_fractional_length && (is_nearest || !r.antialias);
  DType computed = n.dtype(x) == DType::kF64 ? DType::kF64 : DType::kF32;
  if (!is_nearest && (!is_real || !is_plain)) {
    Value wide = n.cast(x, computed);
    // Integers are computed in f32 and rounded once, as are 16-bit floats in cases that are not one
    // sv.resize.
    if (wide != x) return n.cast(resample(n, wide, r), n.dtype(x));
  }
  if (is_plain)
    return n.emit<ResizeOp>(
        {x}, {n.attr("dims", r.dims), n.attr("scales", llvm::ArrayRef<float>(r.scales)),
              n.attr("mode", llvm::StringRef(r.mode)),
              n.attr("coordinates", llvm::StringRef(r.coordinates)),
              n.attr("rounding", llvm::StringRef(r.rounding)), n.attr("cubic_coeff", r.cubic_coeff),
              n.attr("exclude_outside", r.exclude_outside)});
  // All filters are separable, so the axes are resampled one after the other.
  for (int64_t axis = n.rank(x); axis-- > 0 && !n.has_failed();)
    x = AxisResampler(n, r, x, axis).resample();
  return x;
}

// --- Attributes and inputs. ---------------------------------------------------------------------

bool is_known_mode(Node& n, const Resample& r) {
  if (!llvm::is_contained({"nearest", "linear", "cubic"}, r.mode))
    return n.fail("mode is \"" + r.mode + "\", expected nearest, linear or cubic"), false;
  if (!llvm::is_contained(
          {"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners",
           "asymmetric", "tf_half_pixel_for_nn", "tf_crop_and_resize"},
          r.coordinates))
    return n.fail("unknown coordinate_transformation_mode \"" + r.coordinates + "\""), false;
  if (!llvm::is_contained({"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"}, r.rounding))
    return n.fail("nearest_mode is \"" + r.rounding +
                  "\", expected round_prefer_floor, round_prefer_ceil, floor or ceil"),
           false;
  return true;
}

// Expands one number per entry of `axes` to one per axis of x; other axes get `otherwise`.
template <typename T>
llvm::SmallVector<T> over_all_axes(Node& n, const Ints& axes, llvm::ArrayRef<T> some,
                                   llvm::ArrayRef<T> otherwise) {
  llvm::SmallVector<T> all(otherwise);
  if (some.size() != axes.size())
    n.fail(llvm::Twine(some.size()) + " scales or sizes given, expected " +
           llvm::Twine(axes.size()) + ", one for each axis");
  for (size_t i = 0; i < axes.size() && !n.has_failed(); ++i)
    all[static_cast<size_t>(axes[i])] = some[i];
  return all;
}

// Sets run-time scales and the dims of the result, which are read at run time.
void take_run_time_scales(Node& n, Value x, const Ints& axes, Value scales, Resample& r) {
  if (n.rank(scales) != 1 || !n.dim(scales, 0).is_constant(static_cast<int64_t>(axes.size()))) {
    n.fail("scales must have " + llvm::Twine(axes.size()) +
           " elements, one for each axis, but are " + text_of(n.type(scales)));
    return;
  }
  llvm::SmallVector<Formula> all(static_cast<size_t>(n.rank(x)),
                                 Formula(n, n.scalar(1, DType::kF32)));
  for (size_t i = 0; i < axes.size(); ++i)
    all[static_cast<size_t>(axes[i])] = Formula(n, scales).element_at(0, static_cast<int64_t>(i));
  Formula factors = stack(all, 0);
  Formula dims = Formula(n, n.dims_value(Dims(n.shape(x)))).as(DType::kF32);
  r.run_time_scales = factors;
  r.dims = n.dims_of(floor(dims * factors).as(DType::kI64), "the size");
}

void take_scales(Node& n, Value x, const Ints& axes, Value scales, Resample& r) {
  if (n.has_failed()) return;
  if (!scales.getDefiningOp<ConstantOp>()) return take_run_time_scales(n, x, axes, scales, r);
  llvm::SmallVector<float> ones(static_cast<size_t>(n.rank(x)), 1.0f);
  auto some = n.numbers_of(scales, "the scale");
  r.scales = over_all_axes<float>(n, axes, some, ones);
  for (size_t d = 0; d < r.scales.size() && !n.has_failed(); ++d)
    r.dims.push_back(scaled(n, n.shape(x)[d], r.scales[d]));
}

// Replaces the scales that reach the given sizes by one scale for all axes: their minimum if
// not_larger, else their maximum. Rounds the resulting sizes.
void keep_aspect_ratio(Node& n, Value x, const Ints& axes, bool not_larger, Resample& r) {
  Dims wanted = r.dims;
  auto better = [&](DimExpr a, DimExpr b) { return not_larger ? min(a, b) : max(a, b); };
  std::optional<Formula> scale;
  for (int64_t i : axes) {
    Formula ratio = number(n, wanted[static_cast<size_t>(i)], DType::kF32) /
                    number(n, n.dim(x, i), DType::kF32);
    scale = !scale ? ratio : not_larger ? min(*scale, ratio) : max(*scale, ratio);
    for (int64_t j : axes) {
      // round(dim j * size i / dim i), with ties rounded up.
      DimExpr from = n.dim(x, i),
              rounded = floordiv(n.dim(x, j) * wanted[static_cast<size_t>(i)] * DimExpr(2) + from,
                                 max(from * DimExpr(2), DimExpr(1)));
      DimExpr& dim = r.dims[static_cast<size_t>(j)];
      // The scale of each axis i gives a size for axis j. The policy selects the least or the
      // greatest of these sizes.
      dim = i == axes.front() ? rounded : better(dim, rounded);
    }
  }
  bool is_constant = true;
  float least = 0;
  for (int64_t i : axes) {
    auto size = wanted[static_cast<size_t>(i)].as_constant(), dim = n.dim(x, i).as_constant();
    is_constant = is_constant && size && dim && *dim > 0;
    if (!is_constant) break;
    float ratio = static_cast<float>(*size) / static_cast<float>(*dim);
    least = i == axes.front() ? ratio
            : not_larger      ? std::min(least, ratio)
                              : std::max(least, ratio);
  }
  llvm::SmallVector<Formula> all(static_cast<size_t>(n.rank(x)),
                                 Formula(n, n.scalar(1, DType::kF32)));
  r.scales.assign(is_constant ? all.size() : 0, 1.0f);
  for (int64_t i : axes) {
    all[static_cast<size_t>(i)] = *scale;
    if (is_constant) r.scales[static_cast<size_t>(i)] = least;
  }
  if (!is_constant) r.run_time_scales = stack(all, 0);
}

void take_sizes(Node& n, Value x, const Ints& axes, Resample& r) {
  Dims sizes = n.dims_of(n.input(3), "the size");
  if (n.has_failed()) return;
  r.dims = over_all_axes<DimExpr>(n, axes, sizes, n.shape(x));
  std::string policy = n.text("keep_aspect_ratio_policy", "stretch");
  if (policy == "not_larger" || policy == "not_smaller") {
    if (!axes.empty() && !n.has_failed()) keep_aspect_ratio(n, x, axes, policy == "not_larger", r);
  } else if (policy != "stretch") {
    n.fail("keep_aspect_ratio_policy is \"" + policy +
           "\", expected stretch, not_larger or not_smaller");
  }
}

// The region for all axes of x: all starts, then all ends. It covers axes outside `axes`
// completely.
Value region_of(Node& n, Value x, const Ints& axes) {
  Value roi = n.cast(n.input(1), DType::kF32);
  auto count = static_cast<int64_t>(axes.size()), rank = n.rank(x);
  if (n.has_failed()) return {};
  if (n.rank(roi) != 1 || !n.dim(roi, 0).is_constant(2 * count))
    return n.fail("roi must have " + llvm::Twine(2 * count) +
                  " elements, two for each axis, but is " + text_of(n.type(roi)));
  if (rank == 0) return n.fail("tf_crop_and_resize requires rank 1 or more, but x is a scalar");
  llvm::SmallVector<Formula> bounds(static_cast<size_t>(rank),
                                    Formula(n, n.scalar(0, DType::kF32)));
  bounds.append(static_cast<size_t>(rank), Formula(n, n.scalar(1, DType::kF32)));
  for (int64_t i = 0; i < count; ++i)
    for (int64_t end = 0; end < 2; ++end)
      bounds[static_cast<size_t>(end * rank + axes[static_cast<size_t>(i)])] =
          Formula(n, roi).element_at(0, end * count + i);
  return stack(bounds, 0);
}

Values resize(Node& n) {
  Value x = n.input(0);
  Resample r{.mode = n.text("mode", "nearest"),
             .coordinates = n.text("coordinate_transformation_mode", "half_pixel"),
             .rounding = n.text("nearest_mode", "round_prefer_floor"),
             .antialias = n.flag("antialias", false),
             .exclude_outside = n.flag("exclude_outside", false),
             .cubic_coeff = n.number("cubic_coeff_a", -0.75f)};
  Ints axes = n.integers("axes", first_axes(n.rank(x)));
  for (int64_t& axis : axes) axis = n.axis(axis, n.rank(x));
  if (!is_known_mode(n, r) || n.has_failed()) return Value();
  // An empty scales tensor means that scales are absent.
  if (n.has_input(2) && !n.type(n.input(2)).getElementCount().is_constant(0))
    take_scales(n, x, axes, n.input(2), r);
  else
    take_sizes(n, x, axes, r);
  if (r.coordinates == "tf_crop_and_resize") r.roi = region_of(n, x, axes);
  return resample(n, x, r);
}

// Before opset 11, coordinates are not shifted, and mode nearest rounds them down.
Resample old_resample(Node& n) {
  std::string mode = n.text("mode", "nearest");
  return {.mode = mode == "bilinear" ? "linear" : mode,
          .coordinates = "asymmetric",
          .rounding = "floor"};
}

Values upsample_with_attribute(Node& n) {
  Value x = n.input(0);
  Resample r = old_resample(n);
  r.scales = n.numbers("scales");
  if (static_cast<int64_t>(r.scales.size()) != n.rank(x))
    return n.fail(llvm::Twine(r.scales.size()) + " scales given, expected " +
                  llvm::Twine(n.rank(x)) + " for " + text_of(n.type(x)));
  for (size_t d = 0; d < r.scales.size() && !n.has_failed(); ++d)
    r.dims.push_back(scaled(n, n.shape(x)[d], r.scales[d]));
  return is_known_mode(n, r) ? resample(n, x, r) : Value();
}

Values upsample(Node& n) {
  Value x = n.input(0);
  Resample r = old_resample(n);
  Ints axes = first_axes(n.rank(x));
  take_scales(n, x, axes, n.input(1), r);
  return is_known_mode(n, r) ? resample(n, x, r) : Value();
}

}  // namespace

const OpRows kResizeOps = {
    {"Resize", 10, upsample},
    {"Resize", 11, resize},
    {"Resize", 18, resize,
     OpSignature{"X roi? scales? sizes?",
                 "antialias axes coordinate_transformation_mode cubic_coeff_a exclude_outside "
                 "extrapolation_value keep_aspect_ratio_policy mode nearest_mode"}},
    {"Upsample", 7, upsample_with_attribute},
    {"Upsample", 9, upsample},
};

}  // namespace scopevm::compiler::frontend
