// ONNX ops that interpolate x at data-dependent coordinates (GridSample, DeformConv, RoiAlign), and
// AffineGrid, which computes such coordinates.
//
// GridSample and DeformConv use Sampler. One gather reads all neighbours of all points, with the
// channels as the last axis. A weighted sum combines them.
#include <limits>

#include "compiler/graph/type_rule.h"
#include "compiler/import/node/checks.h"
#include "compiler/import/node/formula.h"
#include "compiler/import/ops/indexing/require_indices.h"
#include "compiler/import/ops/op_table.h"
#include "compiler/import/ops/spatial.h"

namespace scopevm::compiler::frontend {
namespace {

using namespace graph;  // NOLINT: formulas read better without the prefix

enum class Interpolation : uint8_t { kNearest, kLinear, kCubic };
enum class Padding : uint8_t { kZeros, kBorder, kReflection };

struct Sampling {
  Interpolation interpolation = Interpolation::kLinear;
  Padding padding = Padding::kZeros;
  bool align_corners = true;
};

// The neighbours (taps) of each point along one axis, and their weights: [n, points, taps].
struct Taps {
  Formula index, weight;
};

class Sampler {
 public:
  // x: [n, c, spatial...]
  Sampler(Node& n, Value x, Sampling how) : n_(n), how_(how), sizes_(n.shape(x).drop_front(2)) {
    // The gather then copies all channels of a neighbour as one contiguous slice.
    Value moved = n.move_axis(x, 1, n.rank(x) - 1);
    Dims padded(sizes_);
    if (how.padding == Padding::kZeros) {
      // A border of zeros makes all neighbours outside x readable.
      Dims pads(2 * static_cast<size_t>(n.rank(x)), DimExpr(0));
      for (size_t d = 0; d < sizes_.size(); ++d) {
        pads[1 + d] = pads[static_cast<size_t>(n.rank(x)) + 1 + d] = 1;
        padded[d] = padded[d] + 2;
      }
      moved = n.pad(moved, pads, n.scalar(0, x));
    }
    flat_ = n.reshape(moved, {n.dim(x, 0), element_count(padded), n.dim(x, 1)});
    real_ = n.dtype(x) == DType::kF64 ? DType::kF64 : DType::kF32;
    strides_.assign(padded.size(), DimExpr(1));
    for (size_t d = padded.size(); d-- > 1;) strides_[d - 1] = strides_[d] * padded[d];
  }

  DType real() const { return real_; }

  // coordinates[d]: [n, points], in elements of x along spatial axis d. Returns [n, points, c].
  Value sample(llvm::ArrayRef<Formula> coordinates) {
    std::optional<Taps> all;
    for (size_t d = 0; d < coordinates.size() && !n_.has_failed(); ++d) {
      Taps taps = taps_along(d, coordinates[d]);
      Formula offset = taps.index * number(n_, strides_[d], DType::kI64);
      all = all ? combine(*all, {offset, taps.weight}) : Taps{offset, taps.weight};
    }
    if (n_.has_failed() || !all) return {};
    Dims dims(all->index.shape());
    DimExpr points = dims[1] * dims[2];
    Value picked = n_.emit<GatherNdOp>({flat_, all->index.reshape({dims[0], points, DimExpr(1)})},
                                       {n_.attr("batch_dims", int64_t{1})});
    DimExpr channels = n_.dim(flat_, 2);
    // A single neighbour, of weight 1.
    if (how_.interpolation == Interpolation::kNearest) return picked;
    Formula neighbours = Formula(n_, picked).reshape({dims[0], dims[1], dims[2], channels});
    Formula weight = all->weight.as(n_.dtype(picked)).unsqueeze({3});
    return n_.emit<ReduceSumOp>({neighbours * weight},
                                {n_.attr("axes", Ints{2}), n_.attr("keep_dims", false)});
  }

 private:
  // Every pair of a tap of `a` and a tap of `b`: the sum of their indices, the product of their
  // weights.
  Taps combine(const Taps& a, const Taps& b) {
    Formula index = a.index.unsqueeze({3}) + b.index.unsqueeze({2});
    if (n_.has_failed()) return a;
    Dims dims(index.shape());
    Dims joined = {dims[0], dims[1], dims[2] * dims[3]};
    if (how_.interpolation == Interpolation::kNearest) return {index.reshape(joined), a.weight};
    Formula weight = a.weight.unsqueeze({3}) * b.weight.unsqueeze({2});
    return {index.reshape(joined), weight.reshape(joined)};
  }

  // Reflects x at `low` and `high` until it is between them.
  Formula reflect(const Formula& x, const Formula& low, const Formula& high) {
    Formula range = high - low, period = range * 2.0;
    // The distance from `low`, modulo the period of the reflection.
    Formula distance = abs(x - low) % period;
    Formula mirrored = low + select(distance <= range, distance, period - distance);
    // On an axis of one element, the period is 0.
    return select(range == 0.0, low, mirrored);
  }

  Formula bring_inside(size_t d, const Formula& x) {
    Formula size = number(n_, sizes_[d], real_), last = size - 1.0;
    Formula low = how_.align_corners ? last.scalar(0) : last.scalar(-0.5);
    Formula high = how_.align_corners ? last : size - 0.5;
    if (how_.padding == Padding::kReflection) return reflect(x, low, high);
    Formula is_inside = (low <= x) & (x <= high);
    return select(is_inside, x, clamp(x, 0, last));
  }

  // Integer coordinates of neighbours along spatial axis d -> indices into that axis, padded if
  // the padding is zeros.
  Formula index_of(size_t d, const Formula& whole) {
    Formula size = number(n_, sizes_[d], real_);
    // The border of zeros shifts coordinates by 1. Neighbours outside x are clamped to the border.
    if (how_.padding == Padding::kZeros) return clamp(whole + 1.0, 0, size + 1.0).as(DType::kI64);
    // A neighbour of a reflected point can be outside again.
    Formula inside = how_.padding == Padding::kReflection ? bring_inside(d, whole) : whole;
    return clamp(inside, 0, size - 1.0).as(DType::kI64);
  }

  Taps taps_along(size_t d, const Formula& coordinate) {
    Formula x = coordinate.as(real_);
    bool is_nearest = how_.interpolation == Interpolation::kNearest;
    if (is_nearest) x = round_to_even(x);
    if (how_.padding != Padding::kZeros) x = bring_inside(d, x);
    if (is_nearest) return {index_of(d, x).unsqueeze({2}), x.scalar(1).reshape({1, 1, 1})};
    Formula low = floor(x), fraction = x - low;
    llvm::SmallVector<Formula> indices, weights;
    bool is_cubic = how_.interpolation == Interpolation::kCubic;
    for (int tap = is_cubic ? -1 : 0; tap <= (is_cubic ? 2 : 1); ++tap) {
      indices.push_back(index_of(d, low + static_cast<double>(tap)));
      Formula distance = abs(fraction - static_cast<double>(tap));
      weights.push_back(is_cubic ? cubic_weight(distance, -0.75) : 1.0 - distance);
    }
    return {stack(indices, 2), stack(weights, 2)};
  }

  Node& n_;
  Sampling how_;
  Dims sizes_, strides_;
  Value flat_;
  DType real_ = DType::kF32;
};

// [n, points, c] -> [n, c, dims...].
Value channels_first(Node& n, Value sampled, llvm::ArrayRef<DimExpr> dims) {
  Formula moved = Formula(n, sampled).transpose({0, 2, 1});
  if (n.has_failed()) return {};
  Dims shape = {n.dim(moved, 0), n.dim(moved, 1)};
  shape.append(dims.begin(), dims.end());
  return moved.reshape(shape);
}

// --- GridSample, AffineGrid. --------------------------------------------------------------------

std::optional<Sampling> sampling_of(Node& n) {
  Sampling how;
  std::string mode = n.text("mode", n.opset() < 20 ? "bilinear" : "linear");
  std::string padding = n.text("padding_mode", "zeros");
  if (mode == "nearest")
    how.interpolation = Interpolation::kNearest;
  else if (mode == "cubic" || mode == "bicubic")
    how.interpolation = Interpolation::kCubic;
  else if (mode != "linear" && mode != "bilinear")
    return n.fail("mode is \"" + mode + "\", expected nearest, linear or cubic"), std::nullopt;
  if (padding == "border")
    how.padding = Padding::kBorder;
  else if (padding == "reflection")
    how.padding = Padding::kReflection;
  else if (padding != "zeros")
    return n.fail("padding_mode is \"" + padding + "\", expected zeros, border or reflection"),
           std::nullopt;
  how.align_corners = n.flag("align_corners", false);
  return how;
}

// grid: [n, result dims..., k], where k is the number of spatial axes. The last axis contains the
// coordinates of a point, in reverse order of the spatial axes.
Values grid_sample(Node& n) {
  Value x = n.input(0), grid = n.input(1);
  int64_t rank = n.rank(x), spatial = rank - 2;
  std::optional<Sampling> how = sampling_of(n);
  if (!how || n.has_failed()) return Value();
  if (rank < 3 || n.rank(grid) != rank)
    return n.fail("X must have rank 3 or more and grid the rank of X, but they are " +
                  text_of(n.type(x)) + " and " + text_of(n.type(grid)));
  if (!check_dtype(n, grid, "grid", {DType::kF16, DType::kBF16, DType::kF32, DType::kF64}))
    return Value();
  Dims result(n.shape(grid).slice(1, static_cast<size_t>(spatial)));
  Dims points = {n.dim(x, 0), element_count(result), DimExpr(spatial)};
  Formula flat = Formula(n, grid).reshape(points);
  Sampler sampler(n, x, *how);
  llvm::SmallVector<Formula> coordinates;
  for (int64_t d = 0; d < spatial; ++d) {
    // Grid coordinates are in [-1, 1]. With align_corners, -1 and 1 are the centres of the first
    // and last element; otherwise they are the outer edges of these elements.
    Formula normal = flat.element_at(2, spatial - 1 - d).as(sampler.real());
    Formula size = number(n, n.dim(x, 2 + d), sampler.real());
    coordinates.push_back(how->align_corners ? (normal + 1.0) * ((size - 1.0) * 0.5)
                                             : ((normal + 1.0) * size - 1.0) * 0.5);
  }
  return channels_first(n, sampler.sample(coordinates), result);
}

// The normalised coordinates of `size` positions, in [-1, 1].
Formula positions(Node& n, DimExpr size, bool align_corners) {
  Formula i = iota(n, size, DType::kF32), count = number(n, size, DType::kF32);
  if (!align_corners) return (i * 2.0 + 1.0) / count - 1.0;
  return i * 2.0 / max(count - 1.0, 1.0) - 1.0;
}

// theta: [n, k, k + 1], where k is the number of spatial axes. Multiplies theta with the vector
// (position along the last axis, ..., position along the first axis, 1).
Values affine_grid(Node& n) {
  Value theta = n.input(0);
  Dims size = n.dims_of(n.input(1), "the size");
  if (n.has_failed()) return Value();
  int64_t spatial = static_cast<int64_t>(size.size()) - 2;
  if ((spatial != 2 && spatial != 3) || n.rank(theta) != 3)
    return n.fail("theta must have rank 3 and size 4 or 5 elements, but theta is " +
                  text_of(n.type(theta)) + " and size has " + llvm::Twine(size.size()));
  n.require_equal(size[0], n.dim(theta, 0),
                  "element 0 of size is {0}, expected {1}, dim 0 of theta");
  Dims dims(llvm::ArrayRef(size).drop_front(2));
  llvm::SmallVector<Formula> columns;
  for (int64_t d = spatial; d-- > 0;) {
    Dims along(static_cast<size_t>(spatial), DimExpr(1));
    along[static_cast<size_t>(d)] = dims[static_cast<size_t>(d)];
    Formula position = positions(n, dims[static_cast<size_t>(d)], n.flag("align_corners", false));
    columns.push_back(position.reshape(along).expand(dims));
  }
  columns.push_back(Formula(n, n.scalar(1, DType::kF32)).expand(dims));
  Formula points = stack(columns, spatial).as(n.dtype(theta));
  Value flat = points.reshape({element_count(dims), DimExpr(spatial + 1)});
  theta = n.reshape(theta, {n.dim(theta, 0), DimExpr(spatial), DimExpr(spatial + 1)});
  Value grid = n.emit<MatMulOp>({flat, theta}, {n.attr("transpose_b", true)});
  Dims shape = {n.dim(theta, 0)};
  shape.append(dims);
  shape.push_back(spatial);
  return n.reshape(grid, shape);
}

// --- DeformConv. --------------------------------------------------------------------------------

// A deformable convolution. A tap is an element of the window.
struct Deformed {
  SpatialAttributes window;
  int64_t groups, offset_groups;
  Dims result;  // spatial dims
  DimExpr batch, channels, taps;
};

// The positions of all taps of all windows along spatial axis d: [1, taps, positions].
Formula window_positions(Node& n, const Deformed& c, size_t d, DType real) {
  size_t rank = c.result.size();
  Dims tap_dims(rank, DimExpr(1)), out_dims(rank, DimExpr(1));
  tap_dims[d] = c.window.kernel[d];
  out_dims[d] = c.result[d];
  Dims kernel(c.window.kernel.begin(), c.window.kernel.end());
  Formula tap = iota(n, c.window.kernel[d], real) * static_cast<double>(c.window.dilations[d]);
  Formula out = iota(n, c.result[d], real) * static_cast<double>(c.window.strides[d]) -
                static_cast<double>(c.window.pads[d]);
  Formula taps = tap.reshape(tap_dims).expand(kernel).reshape({1, c.taps, 1});
  return taps + out.reshape(out_dims).expand(c.result).reshape({1, 1, element_count(c.result)});
}

// The samples at all taps: [batch * offset groups, taps * positions, channels of an offset group].
Value deformed_columns(Node& n, const Deformed& c, Value x, Value offset) {
  DimExpr images = c.batch * DimExpr(c.offset_groups), positions = element_count(c.result);
  Dims grouped = {images, floordiv(c.channels, c.offset_groups)};
  grouped.append(n.shape(x).begin() + 2, n.shape(x).end());
  Sampler sampler(n, n.reshape(x, grouped), {});
  int64_t rank = static_cast<int64_t>(c.result.size());
  Formula offsets = Formula(n, offset).as(sampler.real());
  offsets = offsets.reshape({images, c.taps, DimExpr(rank), positions});
  llvm::SmallVector<Formula> coordinates;
  for (int64_t d = 0; d < rank; ++d) {
    Formula position =
        window_positions(n, c, static_cast<size_t>(d), sampler.real()) + offsets.element_at(2, d);
    coordinates.push_back(position.reshape({images, c.taps * positions}));
  }
  return sampler.sample(coordinates);
}

// The offsets have one position for each element of the result along spatial axis i.
void require_result_size(Node& n, const SpatialAttributes& window, size_t i, DimExpr size,
                         DimExpr given) {
  const size_t rank = window.kernel.size();
  const DimExpr padded = size + window.pads[i] + window.pads[rank + i] + window.symbolic_pads[i] +
                         window.symbolic_pads[rank + i];
  const int64_t span = (window.kernel[i] - 1) * window.dilations[i] + 1;
  n.require_equal(given, floordiv(padded - span, window.strides[i]) + 1,
                  "a spatial dim of offset is {0}, expected {1}, as in the result");
}

// Samples x at the taps moved by `offset`, multiplies by the mask, and computes one matrix product
// per group.
Values deform_conv(Node& n) {
  Value x = n.input(0), w = n.input(1), offset = n.input(2);
  int64_t rank = n.rank(x);
  if (n.has_failed()) return Value();
  if (rank < 3 || n.rank(w) != rank || n.rank(offset) != rank)
    return n.fail("X must have rank 3 or more, W and offset the rank of X, but they are " +
                  text_of(n.type(x)) + ", " + text_of(n.type(w)) + " and " +
                  text_of(n.type(offset)));
  Deformed c{spatial_attributes(n, x, kernel_of(n, w)),
             n.integer("group", 1),
             n.integer("offset_group", 1),
             Dims(n.shape(offset).drop_front(2)),
             n.dim(x, 0),
             n.dim(x, 1),
             1};
  if (n.has_failed()) return Value();
  if (c.groups < 1 || c.offset_groups < 1)
    return n.fail("group and offset_group are " + llvm::Twine(c.groups) + " and " +
                  llvm::Twine(c.offset_groups) + ", expected at least 1");
  for (size_t i = 0; i < c.window.kernel.size(); ++i) {
    const int64_t size = c.window.kernel[i];
    c.taps = c.taps * DimExpr(size);
    require_result_size(n, c.window, i, n.dim(x, static_cast<int64_t>(i) + 2), c.result[i]);
  }
  DimExpr images = c.batch * DimExpr(c.offset_groups), positions = element_count(c.result);
  Formula columns(n, deformed_columns(n, c, x, offset));
  if (n.has_input(4))
    columns = columns * Formula(n, n.input(4)).reshape({images, c.taps * positions, DimExpr(1)});
  DimExpr group_channels = floordiv(c.channels, c.offset_groups);
  // The depth of the product is in the order of W: [channels of a group, taps].
  Formula by_channel =
      columns.reshape({images, c.taps, positions, group_channels}).transpose({0, 3, 1, 2});
  DimExpr depth = n.dim(w, 1) * c.taps, outputs = n.dim(w, 0);
  Formula right = by_channel.reshape({c.batch, DimExpr(c.groups), depth, positions});
  Formula left = Formula(n, w).reshape({DimExpr(c.groups), floordiv(outputs, c.groups), depth});
  Dims shape = {c.batch, outputs};
  shape.append(c.result);
  Formula product = Formula(n, n.emit<MatMulOp>({left, right})).reshape(shape);
  if (!n.has_input(3)) return product;
  Dims bias(static_cast<size_t>(rank) - 1, DimExpr(1));
  bias[0] = outputs;
  return product + Formula(n, n.input(3)).reshape(bias);
}

// --- RoiAlign. ----------------------------------------------------------------------------------

Values roi_align(Node& n) {
  std::string mode = n.text("mode", "avg");
  std::string coordinates =
      n.text("coordinate_transformation_mode", n.opset() < 16 ? "output_half_pixel" : "half_pixel");
  if (mode != "avg" && mode != "max")
    return n.fail("mode is \"" + mode + "\", expected avg or max");
  if (coordinates != "half_pixel" && coordinates != "output_half_pixel")
    return n.fail("coordinate_transformation_mode is \"" + coordinates +
                  "\", expected half_pixel or output_half_pixel");
  const Value images = n.input(2);
  if (!n.has_failed() && n.rank(n.input(0)) > 0 && n.dtype(images) == DType::kI64)
    require_indices(n, images, {n.dim(n.input(0), 0)}, LeastIndex::kZero);
  // Without the half-pixel shift, ONNX enlarges boxes to at least one element.
  bool is_moved = coordinates == "half_pixel";
  float least = is_moved ? std::numeric_limits<float>::lowest() : 1.0f;
  return n.emit<RoiAlignOp>(
      {n.input(0), n.input(1), images},
      {n.attr("height", n.integer("output_height", 1)),
       n.attr("width", n.integer("output_width", 1)),
       n.attr("samples", n.integer("sampling_ratio", 0)),
       n.attr("scale", n.number("spatial_scale", 1)), n.attr("offset", is_moved ? 0.5f : 0.0f),
       n.attr("min_size", least), n.attr("greatest", mode == "max")});
}

}  // namespace

const OpRows kSamplingOps = {
    {"AffineGrid", 20, affine_grid, OpSignature{"theta size", "align_corners"}},
    {"DeformConv", 19, deform_conv,
     OpSignature{"X W offset B? mask?", "dilations group kernel_shape offset_group pads strides"}},
    {"GridSample", 16, grid_sample},
    {"RoiAlign", 10, roi_align},
};

}  // namespace scopevm::compiler::frontend
