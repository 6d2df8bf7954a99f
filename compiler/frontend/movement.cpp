// ONNX ops that move elements.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "compiler/frontend/node.h"
#include "compiler/shapes/dim_text.h"

namespace scopevm::frontend {
namespace {

using namespace graph;  // NOLINT: formulas read better without the prefix

Values transpose(Node& n) {
  Value x = n.input(0);
  Ints reversed(static_cast<size_t>(n.rank(x)));
  std::iota(reversed.rbegin(), reversed.rend(), 0);
  Ints permutation = n.integers("perm", reversed);
  for (int64_t& axis : permutation) axis = n.axis(axis, n.rank(x));
  return n.transpose(x, permutation);
}

Values concat(Node& n) {
  auto inputs = n.inputs();
  if (n.has_failed()) return Value();
  int64_t axis = n.axis(n.integer("axis"), n.rank(inputs.front()));
  return inputs.size() == 1 ? inputs.front() : n.emit<ConcatOp>(inputs, {n.attr("axis", axis)});
}

// --- Slice. -------------------------------------------------------------------------------------

// Exporters write "to the end" as the greatest i32 or i64.
constexpr int64_t kFarAway = std::numeric_limits<int32_t>::max();

bool is_far(DimExpr e) {
  auto c = e.as_constant();
  return c && (*c >= kFarAway || *c <= -kFarAway);
}

// An index of an axis of `dim` elements, which counts from the end when negative, clamped to
// [low, high].
DimExpr clamp_index(Node& n, DimExpr index, DimExpr dim, DimExpr low, DimExpr high) {
  if (is_far(index)) return *index.as_constant() > 0 ? high : low;
  DimInterval range = n.intervals().of(index);
  if (range.min < 0 && range.max >= 0) {
    n.unsupported("index " + short_text(index) + " may be negative or not");
    return low;
  }
  if (range.max < 0) index = index + dim;
  return n.intervals().greater(n.intervals().smaller(index, high), low);
}

Values slice(Node& n, const Dims& starts, const Dims& ends, Ints axes, const Ints& steps) {
  Value x = n.input(0);
  size_t rank = static_cast<size_t>(n.rank(x));
  if (n.has_failed()) return Value();
  if (starts.size() != ends.size() || axes.size() != starts.size() || steps.size() != starts.size())
    return n.fail("starts, ends, axes and steps have different lengths"), Value();
  Dims from(rank, DimExpr(0)), sizes(n.shape(x));
  Ints by(rank, 1);
  for (size_t i = 0; i < axes.size(); ++i) {
    int64_t axis = n.axis(axes[i], n.rank(x)), step = steps[i];
    if (n.has_failed()) return Value();
    if (step == 0) return n.fail("a step is 0"), Value();
    DimExpr dim = n.dim(x, axis), first, end;
    if (step > 0) {
      first = clamp_index(n, starts[i], dim, 0, dim);
      end = clamp_index(n, ends[i], dim, 0, dim);
    } else {
      first = clamp_index(n, starts[i], dim, 0, dim - 1);
      end = clamp_index(n, ends[i], dim, -1, dim - 1);
    }
    DimExpr span = step > 0 ? end - first : first - end;
    int64_t stride = step > 0 ? step : (step == INT64_MIN ? INT64_MAX : -step);
    from[axis] = first;
    by[axis] = std::clamp<int64_t>(step, -kFarAway, kFarAway);
    sizes[axis] = n.intervals().greater(ceildiv(span, std::min(stride, kFarAway)), 0);
  }
  bool is_whole = n.shape(x) == llvm::ArrayRef<DimExpr>(sizes) &&
                  llvm::all_of(by, [](int64_t s) { return s == 1; });
  if (is_whole) return x;
  return n.emit<SliceOp>({x},
                         {n.attr("starts", from), n.attr("sizes", sizes), n.attr("steps", by)});
}

Ints first_axes(size_t count) {
  Ints axes(count);
  std::iota(axes.begin(), axes.end(), 0);
  return axes;
}

Values slice_with_attributes(Node& n) {
  Ints starts = n.integers("starts"), ends = n.integers("ends");
  return slice(n, Dims(starts.begin(), starts.end()), Dims(ends.begin(), ends.end()),
               n.integers("axes", first_axes(starts.size())), Ints(starts.size(), 1));
}

Values slice(Node& n) {
  Dims starts = n.dims_of(n.input(1), "the start", Node::Sign::kAny),
       ends = n.dims_of(n.input(2), "the end", Node::Sign::kAny);
  Ints axes = n.has_input(3) ? n.integers_of(n.input(3), "axes") : first_axes(starts.size());
  Ints steps = n.has_input(4) ? n.integers_of(n.input(4), "the step") : Ints(starts.size(), 1);
  return slice(n, starts, ends, axes, steps);
}

// --- Split, Pad, Tile. --------------------------------------------------------------------------

std::optional<Dims> part_sizes(Node& n, DimExpr dim) {
  int64_t count = static_cast<int64_t>(n.output_count());
  if (n.opset() >= 13 && n.has_input(1)) return n.dims_of(n.input(1), "the split");
  if (n.opset() < 13 && n.has_attribute("split")) {
    Ints split = n.integers("split");
    return Dims(split.begin(), split.end());
  }
  DimExpr part = ceildiv(dim, count);
  if (!dim.is_constant() && part * DimExpr(count) != dim) part = floordiv(dim, count);
  Dims parts(static_cast<size_t>(count), part);
  if (part * DimExpr(count) == dim) return parts;
  if (!dim.is_constant()) {
    n.unsupported("dim " + short_text(dim) + " may not divide into " + llvm::Twine(count) +
                  " equal parts");
    return std::nullopt;
  }
  parts.back() = dim - part * DimExpr(count - 1);
  if (*parts.back().as_constant() < 0) {
    n.fail("dim " + short_text(dim) + " is too small for " + llvm::Twine(count) + " parts");
    return std::nullopt;
  }
  return parts;
}

Values split(Node& n) {
  Value x = n.input(0);
  int64_t axis = n.axis(n.integer("axis", 0), n.rank(x));
  DimExpr dim = n.dim(x, axis);
  std::optional<Dims> parts = part_sizes(n, dim);
  if (n.has_failed() || !parts) return Value();
  if (parts->size() != n.output_count())
    return n.fail("split has " + llvm::Twine(parts->size()) + " parts for " +
                  llvm::Twine(n.output_count()) + " outputs"),
           Value();
  llvm::SmallVector<Value> results;
  DimExpr at = 0;
  for (DimExpr part : *parts) {
    Dims starts(static_cast<size_t>(n.rank(x)), DimExpr(0)), sizes(n.shape(x));
    starts[axis] = at;
    sizes[axis] = part;
    results.push_back(n.slice(x, starts, sizes));
    at = at + part;
  }
  if (at != dim && at.is_constant() && dim.is_constant())
    n.fail("the parts add up to " + short_text(at) + ", the dim is " + short_text(dim));
  return mlir::ValueRange(results);
}

Values pad(Node& n, Dims pads, Value value) {
  Value x = n.input(0);
  std::string mode = n.text("mode", "constant");
  if (n.has_failed()) return Value();
  if (pads.size() != 2 * static_cast<size_t>(n.rank(x)))
    return n.fail("pads do not fit rank " + llvm::Twine(n.rank(x))), Value();
  llvm::SmallVector<Value> operands = {x};
  if (mode == "constant") operands.push_back(value ? n.reshape(value, {}) : n.scalar(0, x));
  return n.emit<PadOp>(operands, {n.attr("pads", pads), n.attr("mode", llvm::StringRef(mode))});
}

Values pad_with_attributes(Node& n) {
  Ints pads = n.integers("pads");
  return pad(n, Dims(pads.begin(), pads.end()), n.scalar(n.number("value", 0), n.input(0)));
}

Values pad(Node& n) {
  return pad(n, n.dims_of(n.input(1), "the padding", Node::Sign::kAny), n.input_or(2, Value()));
}

Values tile(Node& n) {
  return n.emit<TileOp>({n.input(0)},
                        {n.attr("repeats", n.dims_of(n.input(1), "the repeat count"))});
}

// --- Gather and scatter. ------------------------------------------------------------------------

template <typename Op>
Values gather_along(Node& n) {
  Value x = n.input(0);
  return n.emit<Op>({x, n.input(1)}, {n.attr("axis", n.axis(n.integer("axis", 0), n.rank(x)))});
}

Values gather_nd(Node& n) {
  return n.emit<GatherNdOp>({n.input(0), n.input(1)},
                            {n.attr("batch_dims", n.integer("batch_dims", 0))});
}

mlir::NamedAttribute reduction(Node& n) {
  return n.attr("reduction", llvm::StringRef(n.text("reduction", "none")));
}

Values scatter_elements(Node& n) {
  Value x = n.input(0);
  return n.emit<ScatterElementsOp>(
      {x, n.input(1), n.input(2)},
      {n.attr("axis", n.axis(n.integer("axis", 0), n.rank(x))), reduction(n)});
}

Values scatter_nd(Node& n) {
  return n.emit<ScatterNdOp>({n.input(0), n.input(1), n.input(2)}, {reduction(n)});
}

Values one_hot(Node& n) {
  Value indices = n.input(0), depth = n.input(1);
  Dims size;
  if (n.dtype(depth) == DType::kF32 || n.dtype(depth) == DType::kF64)
    for (float d : n.numbers_of(depth, "the depth")) size.push_back(static_cast<int64_t>(d));
  else
    size = n.dims_of(depth, "the depth");
  if (size.size() != 1 && !n.has_failed()) n.fail("the depth must be one number");
  return n.emit<OneHotOp>(
      {n.cast(indices, DType::kI64), n.input(2)},
      {n.attr("depth", size), n.attr("axis", n.axis(n.integer("axis", -1), n.rank(indices) + 1))});
}

Values top_k(Node& n, const Dims& k) {
  Value x = n.input(0);
  if (k.size() != 1) return n.fail("k must be one number"), Value();
  mlir::Operation* op =
      n.emit(TopKOp::getOperationName(), {x},
             {n.attr("k", k), n.attr("axis", n.axis(n.integer("axis", -1), n.rank(x))),
              n.attr("largest", n.flag("largest", true))});
  if (!op) return Value();
  return {op->getResult(0), op->getResult(1)};
}

Values top_k_with_attribute(Node& n) { return top_k(n, {DimExpr(n.integer("k"))}); }
Values top_k(Node& n) { return top_k(n, n.dims_of(n.input(1), "k")); }

Values trilu(Node& n) {
  Ints k = n.has_input(1) ? n.integers_of(n.input(1), "k") : Ints{0};
  if (k.size() != 1) return n.fail("k must be one number"), Value();
  return n.emit<TriluOp>({n.input(0)}, {n.attr("k", k[0]), n.attr("upper", n.flag("upper", true))});
}

// --- Blocks. ------------------------------------------------------------------------------------

std::optional<int64_t> block_size(Node& n, Value x) {
  int64_t block = n.integer("blocksize");
  if (n.rank(x) == 4 && block >= 1 && block <= (1 << 15)) return block;
  n.fail("rank or blocksize is not valid");
  return std::nullopt;
}

Values depth_to_space(Node& n) {
  Value x = n.input(0);
  std::optional<int64_t> b = block_size(n, x);
  if (!b) return Value();
  llvm::ArrayRef<DimExpr> d = n.shape(x);
  DimExpr block = *b, depth = floordiv(d[1], *b * *b);
  bool column_first = n.text("mode", "DCR") == "CRD";
  Value split = column_first ? n.reshape(x, {d[0], depth, block, block, d[2], d[3]})
                             : n.reshape(x, {d[0], block, block, depth, d[2], d[3]});
  Value moved = n.transpose(split, column_first ? Ints{0, 1, 4, 2, 5, 3} : Ints{0, 3, 4, 1, 5, 2});
  return n.reshape(moved, {d[0], depth, d[2] * block, d[3] * block});
}

Values space_to_depth(Node& n) {
  Value x = n.input(0);
  std::optional<int64_t> b = block_size(n, x);
  if (!b) return Value();
  llvm::ArrayRef<DimExpr> d = n.shape(x);
  DimExpr block = *b, height = floordiv(d[2], block), width = floordiv(d[3], block);
  Value split = n.reshape(x, {d[0], d[1], height, block, width, block});
  Value moved = n.transpose(split, {0, 3, 5, 1, 2, 4});
  return n.reshape(moved, {d[0], d[1] * block * block, height, width});
}

// --- Resize. ------------------------------------------------------------------------------------

// floor(dim * scale). A scale is a float; as p / 2^k it is exact.
DimExpr scaled(Node& n, DimExpr dim, float scale) {
  if (!(scale > 0) || scale > (1 << 20)) return n.fail("a scale is not positive"), dim;
  if (auto c = dim.as_constant())
    return static_cast<int64_t>(std::floor(static_cast<float>(*c) * scale));
  double p = scale;
  int64_t q = 1;
  while (p != std::floor(p) && q < (1 << 24)) p *= 2, q *= 2;
  if (p != std::floor(p))
    return n.unsupported("scale " + std::to_string(scale) + " of a dynamic dim is not supported"),
           dim;
  return floordiv(dim * DimExpr(static_cast<int64_t>(p)), q);
}

struct Resample {
  std::string mode, coordinates, rounding;
};

Values resize_by(Node& n, llvm::ArrayRef<float> scales, const Resample& r) {
  Value x = n.input(0);
  if (n.has_failed()) return Value();
  if (static_cast<int64_t>(scales.size()) != n.rank(x))
    return n.fail("scales do not fit rank " + llvm::Twine(n.rank(x))), Value();
  Dims dims;
  for (size_t i = 0; i < scales.size(); ++i) dims.push_back(scaled(n, n.shape(x)[i], scales[i]));
  return n.emit<ResizeOp>(
      {x}, {n.attr("dims", dims), n.attr("scales", scales), n.attr("mode", llvm::StringRef(r.mode)),
            n.attr("coordinates", llvm::StringRef(r.coordinates)),
            n.attr("rounding", llvm::StringRef(r.rounding)),
            n.attr("cubic_coeff", n.number("cubic_coeff_a", -0.75f)),
            n.attr("exclude_outside", n.flag("exclude_outside", false))});
}

// Before opset 11: coordinates are not shifted, and the nearest is the one below.
Resample old_resample(Node& n) {
  std::string mode = n.text("mode", "nearest");
  return {mode == "bilinear" ? "linear" : mode, "asymmetric", "floor"};
}

Values upsample_with_attribute(Node& n) {
  return resize_by(n, n.numbers("scales"), old_resample(n));
}

Values upsample(Node& n) {
  return resize_by(n, n.numbers_of(n.input(1), "the scale"), old_resample(n));
}

Values resize(Node& n) {
  Value x = n.input(0);
  Resample r{n.text("mode", "nearest"), n.text("coordinate_transformation_mode", "half_pixel"),
             n.text("nearest_mode", "round_prefer_floor")};
  if (r.coordinates == "tf_crop_and_resize")
    return n.unsupported("coordinate_transformation_mode tf_crop_and_resize is not supported"),
           Value();
  // An empty tensor of scales stands for none.
  bool has_scales = n.has_input(2) && !n.type(n.input(2)).getElementCount().is_constant(0);
  if (has_scales) return resize_by(n, n.numbers_of(n.input(2), "the scale"), r);
  Dims dims = n.dims_of(n.input(3), "the size");
  if (static_cast<int64_t>(dims.size()) != n.rank(x) && !n.has_failed())
    return n.fail("sizes do not fit rank " + llvm::Twine(n.rank(x))), Value();
  return n.emit<ResizeOp>({x}, {n.attr("dims", dims), n.attr("scales", llvm::ArrayRef<float>()),
                                n.attr("mode", llvm::StringRef(r.mode)),
                                n.attr("coordinates", llvm::StringRef(r.coordinates)),
                                n.attr("rounding", llvm::StringRef(r.rounding)),
                                n.attr("cubic_coeff", n.number("cubic_coeff_a", -0.75f)),
                                n.attr("exclude_outside", n.flag("exclude_outside", false))});
}

constexpr OpRow kRows[] = {
    {"Concat", 4, concat},
    {"DepthToSpace", 1, depth_to_space},
    {"Gather", 1, gather_along<GatherOp>},
    {"GatherElements", 11, gather_along<GatherElementsOp>},
    {"GatherND", 11, gather_nd},
    {"OneHot", 9, one_hot},
    {"Pad", 2, pad_with_attributes},
    {"Pad", 11, pad},
    {"Resize", 10, upsample},
    {"Resize", 11, resize},
    {"Scatter", 9, scatter_elements},
    {"ScatterElements", 11, scatter_elements},
    {"ScatterND", 11, scatter_nd},
    {"Slice", 1, slice_with_attributes},
    {"Slice", 10, slice},
    {"SpaceToDepth", 1, space_to_depth},
    {"Split", 2, split},
    {"Tile", 6, tile},
    {"TopK", 1, top_k_with_attribute},
    {"TopK", 10, top_k},
    {"Transpose", 1, transpose},
    {"Trilu", 14, trilu},
    {"Upsample", 7, upsample_with_attribute},
    {"Upsample", 9, upsample},
};

}  // namespace

llvm::ArrayRef<OpRow> movement_ops() { return kRows; }

}  // namespace scopevm::frontend
