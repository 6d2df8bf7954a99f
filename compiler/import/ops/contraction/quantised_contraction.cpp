// Products and convolutions of quantised tensors, as u8 x i8 -> i32 sv.matmul, which has fast
// kernels. The zero points a0 and b0 are moved out of the sums over the depth:
//
//   sum (a - a0) * (b - b0) = sum a * b - a0 * (sum b - depth * b0) - b0 * sum a
//
// Sums of constant weights are folded, and terms whose zero point is known to be 0 are omitted. An
// i8 operand a becomes u8, and a u8 operand b becomes i8. For that, the highest bit of each element
// is flipped, and the zero point is shifted by 128.
//
// Convolutions are products of matrices: windows are unfolded to rows (im2col), and weights are
// reshaped. The input is first transposed to channels-last layout, in which a window consists of
// a few long contiguous runs. Depthwise convolutions are elementwise ops over the taps instead.
#include <cstdint>
#include <cstring>

#include "compiler/graph/type_rule.h"
#include "compiler/graph/values/constant_array.h"
#include "compiler/import/ops/contraction/quantised_contraction.h"
#include "compiler/import/ops/elementwise/quantised.h"
#include "compiler/import/ops/op_table.h"
#include "compiler/import/ops/spatial.h"

namespace scopevm::compiler::frontend {
namespace {

using namespace graph;  // NOLINT: formulas read better without the prefix

// An 8-bit tensor with its zero point, which has type i32 or is null for 0.
struct Quantised {
  Value values;
  Value zero;
};

// The zero point plus `shift`, as i32. Null if the sum is known to be 0.
Value moved_zero(Node& n, Value zero, int64_t shift) {
  Value distance = n.scalar(static_cast<double>(shift), DType::kI32);
  if (!zero) return shift == 0 ? Value() : distance;
  ConstantOp constant = constant_source(zero);
  if (!constant) return n.emit<AddOp>({n.cast(zero, DType::kI32), distance});
  ConstantArray given(constant);
  std::vector<char> bytes(static_cast<size_t>(given.count()) * 4);
  bool is_zero = true;
  for (int64_t i = 0; i < given.count(); ++i) {
    auto moved = static_cast<int32_t>(given.integer(i) + shift);
    is_zero &= moved == 0;
    std::memcpy(bytes.data() + 4 * i, &moved, 4);
  }
  if (is_zero) return {};
  return n.reshape(n.constant(given.dims(), DType::kI32, bytes), Dims(n.shape(zero)));
}

// x and its zero point in the 8-bit type `to`, such that the represented numbers are the same.
Quantised with_type(Node& n, Value x, Value zero, DType to) {
  DType from = n.dtype(x);
  if (from == to) return {x, moved_zero(n, zero, 0)};
  int64_t shift = to == DType::kU8 ? 128 : -128;
  // The cast keeps the bits, and flipping the highest one adds or subtracts 128 modulo 256.
  Value flipped = n.emit<BitXorOp>({n.cast(x, to), n.scalar(static_cast<double>(shift), to)});
  return {flipped, moved_zero(n, zero, shift)};
}

}  // namespace

Value byte_input(Node& n, size_t i) {
  Value x = n.input(i);
  if (n.dtype(x) != DType::kU8 && n.dtype(x) != DType::kI8)
    n.fail("input " + llvm::Twine(i) + " has element type " + std::string(name(n.dtype(x))) +
           ", expected u8 or i8");
  return x;
}

Value zero_input(Node& n, size_t i, Value of) {
  Value zero = n.input_or(i, Value());
  if (!zero) return {};
  if (n.dtype(zero) != n.dtype(of))
    n.fail("zero point (input " + llvm::Twine(i) + ") has element type " +
           std::string(name(n.dtype(zero))) + ", expected " + std::string(name(n.dtype(of))));
  return as_scalar(n, zero);
}

namespace {

// Reshapes a parameter with one entry per row of a matrix: [m] -> [m, 1]. Others are unchanged.
Value per_row(Node& n, Value parameter) {
  return parameter && n.rank(parameter) == 1 ? n.unsqueeze(parameter, {1}) : parameter;
}

Value ones(Node& n, DimExpr count) {
  constexpr int64_t kMostBytes = 1 << 24;  // of a constant
  std::optional<int64_t> known = count.as_constant();
  if (!known || *known > kMostBytes) return n.expand(n.scalar(1, DType::kU8), {DimExpr(1), count});
  return n.constant({1, *known}, DType::kU8, std::vector<char>(static_cast<size_t>(*known), 1));
}

Value count_as_i32(Node& n, DimExpr count) {
  if (auto known = count.as_constant()) return n.scalar(static_cast<double>(*known), DType::kI32);
  return n.cast(n.dims_value({count}, /*is_scalar=*/true), DType::kI32);
}

// sum (a - a0) * (b - b0) over the depth. `a` is u8 of rank 2 or more, and its zero point a0 a
// scalar or [..., m, 1]. `b` is i8, and its zero point b0 a scalar, [n] or [..., 1, n].
Value centred_product(Node& n, Quantised a, Quantised b) {
  DimExpr depth = n.dim(b.values, n.rank(b.values) - 2);
  // Both operands have this depth. A constant is preferred, because it is folded.
  if (!depth.is_constant()) depth = n.dim(a.values, n.rank(a.values) - 1);
  Value row_term, column_term;
  if (b.zero) {
    Value sums = n.reduce_sum(n.cast(a.values, DType::kI32), {n.rank(a.values) - 1});
    row_term = n.emit<MulOp>({sums, b.zero});
  }
  if (a.zero) {
    // A product with a row of ones computes the column sums: it uses the 8-bit kernel, and it is
    // folded for constant weights.
    Value sums = n.emit<MatMulOp>({ones(n, depth), b.values});
    if (b.zero) sums = n.emit<SubOp>({sums, n.emit<MulOp>({b.zero, count_as_i32(n, depth)})});
    column_term = n.emit<MulOp>({a.zero, sums});
  }
  Value product = n.emit<MatMulOp>({a.values, b.values});
  if (row_term) product = n.emit<SubOp>({product, row_term});
  return column_term ? n.emit<SubOp>({product, column_term}) : product;
}

}  // namespace

Value byte_product(Node& n, Value a, Value a_zero, Value b, Value b_zero,
                   llvm::function_ref<Value(Value sums)> finish) {
  bool a_is_vector = n.rank(a) == 1, b_is_vector = n.rank(b) == 1;
  // As in NumPy, a vector on the left is a row and one on the right a column. The added dim is
  // removed from the result.
  if (a_is_vector) a = n.unsqueeze(a, {0});
  if (b_is_vector) b = n.unsqueeze(b, {1});
  if (n.rank(a) < 2 || n.rank(b) < 2)
    return n.fail("both operands must have rank 1 or more, but one is a scalar");
  Value result = finish(centred_product(n, with_type(n, a, per_row(n, a_zero), DType::kU8),
                                        with_type(n, b, b_zero, DType::kI8)));
  Dims dims(n.shape(result));
  if (n.has_failed()) return {};
  if (b_is_vector) dims.pop_back();
  if (a_is_vector) dims.erase(dims.end() - (b_is_vector ? 1 : 2));
  return n.reshape(result, dims);
}

Value real_sums(Node& n, Value sums, Value a_scale, Value b_scale) {
  Value scale = n.emit<MulOp>({as_scalar(n, a_scale), as_scalar(n, b_scale)});
  return n.emit<MulOp>({n.cast(sums, DType::kF32), scale});
}

Value dynamically_quantised_product(Node& n, Value a, Value b, Value b_scale, Value b_zero) {
  const DynamicallyQuantised q = quantise_dynamically(n, a);
  return byte_product(n, q.values, q.zero, b, b_zero,
                      [&](Value sums) { return real_sums(n, sums, q.scale, b_scale); });
}

namespace {

Values matmul_integer(Node& n) {
  Value a = byte_input(n, 0), b = byte_input(n, 1);
  return byte_product(n, a, zero_input(n, 2, a), b, zero_input(n, 3, b),
                      [](Value sums) { return sums; });
}

// saturate(round(sums * (x_scale * w_scale / y_scale)) + y_zero)
Value rescale(Node& n, Value sums, Value x_scale, Value w_scale, Value y_scale, Value y_zero) {
  auto f32 = [&](Value scale) { return n.cast(as_scalar(n, scale), DType::kF32); };
  Value scale = n.emit<MulOp>({f32(x_scale), f32(w_scale)});
  scale = n.emit<DivOp>({scale, f32(y_scale)});
  Value y = n.emit<MulOp>({n.cast(sums, DType::kF32), scale});
  DType to = n.dtype(y_zero);
  if (to != DType::kU8 && to != DType::kI8)
    n.fail("the zero point of the result has element type " + std::string(name(to)) +
           ", expected u8 or i8");
  return requantise(n, y, as_scalar(n, y_zero), to);
}

Values qlinear_matmul(Node& n) {
  Value a = byte_input(n, 0), b = byte_input(n, 3);
  Value a_scale = per_row(n, as_scalar(n, n.input(1)));
  return byte_product(n, a, zero_input(n, 2, a), b, zero_input(n, 5, b), [&](Value sums) {
    return rescale(n, sums, a_scale, n.input(4), n.input(6), n.input(7));
  });
}

// --- Convolutions. ------------------------------------------------------------------------------

struct Convolution {
  SpatialAttributes window;
  int64_t group = 1;
  Value x, x_zero, w, w_zero;  // 8-bit operands; a zero point is null if absent
};

// Pads x: [n, spatial..., c] with its zero point, which represents 0.
Value with_border(Node& n, Quantised x, const SpatialAttributes& window) {
  size_t rank = window.kernel.size();
  Dims pads(2 * (rank + 2), DimExpr(0));
  bool is_empty = true;
  for (size_t i = 0; i < rank; ++i) {
    pads[1 + i] = window.symbolic_pads[i] + window.pads[i];
    pads[rank + 3 + i] = window.symbolic_pads[rank + i] + window.pads[rank + i];
    is_empty &= pads[1 + i].is_constant(0) && pads[rank + 3 + i].is_constant(0);
  }
  if (is_empty) return x.values;
  return n.pad(x.values, pads, n.cast(x.zero, n.dtype(x.values)));
}

// Element (tap) number `tap` of every window along spatial axis `i` of x: [n, spatial..., c].
Value tap_of(Node& n, Value x, const SpatialAttributes& window, size_t i, int64_t tap) {
  auto axis = static_cast<int64_t>(i) + 1;
  Dims starts(static_cast<size_t>(n.rank(x)), DimExpr(0)), sizes(n.shape(x));
  Ints steps(starts.size(), 1);
  if (n.has_failed()) return {};
  DimExpr last = n.dim(x, axis) - DimExpr((window.kernel[i] - 1) * window.dilations[i]) - 1;
  starts[axis] = tap * window.dilations[i];
  sizes[axis] = floordiv(last, window.strides[i]) + 1;
  steps[axis] = window.strides[i];
  return n.slice(x, starts, sizes, steps);
}

// Unfolds the windows of x: [n, spatial..., c] -> [n, out..., kernel... * c].
Value unfold(Node& n, Value x, const SpatialAttributes& window) {
  // Starts with the last axis, so that its taps are innermost in a row, as in weight_matrix().
  for (size_t i = window.kernel.size(); i-- > 0;) {
    // A window of size 1 with stride 1 leaves the axis unchanged.
    if (window.kernel[i] == 1 && window.strides[i] == 1) continue;
    llvm::SmallVector<Value> taps;
    for (int64_t tap = 0; tap < window.kernel[i]; ++tap)
      taps.push_back(tap_of(n, x, window, i, tap));
    x = n.concat(taps, n.rank(x) - 1);
  }
  return x;
}

// Elements [index * count, (index + 1) * count) of an axis.
Value part_of(Node& n, Value x, int64_t axis, int64_t index, DimExpr count) {
  Dims starts(static_cast<size_t>(n.rank(x)), DimExpr(0)), sizes(n.shape(x));
  if (n.has_failed() || sizes[axis] == count) return x;
  starts[axis] = DimExpr(index) * count;
  sizes[axis] = count;
  return n.slice(x, starts, sizes);
}

// The channels of one group; a per-tensor parameter is returned unchanged.
Value channels_of(Node& n, Value parameter, int64_t index, DimExpr count) {
  return parameter && n.rank(parameter) == 1 ? part_of(n, parameter, 0, index, count) : parameter;
}

// Reshapes w: [m, c, kernel...] -> [kernel... * c, m], with rows in the element order of unfold().
Value weight_matrix(Node& n, Value w) {
  Ints permutation;
  for (int64_t axis = 2; axis < n.rank(w); ++axis) permutation.push_back(axis);
  permutation.append({1, 0});
  DimExpr depth = 1;
  for (DimExpr dim : n.shape(w).drop_front(1)) depth = depth * dim;
  return n.reshape(n.transpose(w, permutation), {depth, n.dim(w, 0)});
}

// Depthwise convolution: the i32 sums over the taps of (x - x0) * (w - w0) with zero points x0, w0.
Value depthwise_sums(Node& n, const Convolution& c) {
  Quantised x{n.move_axis(c.x, 1, n.rank(c.x) - 1), moved_zero(n, c.x_zero, 0)};
  x.values = with_border(n, x, c.window);
  Value weights = n.cast(weight_matrix(n, c.w), DType::kI32), sums;  // [taps, m]
  if (Value zero = moved_zero(n, c.w_zero, 0)) weights = n.emit<SubOp>({weights, zero});
  int64_t taps = 1;
  for (int64_t size : c.window.kernel) taps *= size;
  for (int64_t tap = 0; tap < taps && !n.has_failed(); ++tap) {
    Value seen = x.values;
    int64_t rest = tap;
    // `tap` counts the taps in row-major order; the last axis varies fastest.
    for (size_t i = c.window.kernel.size(); i-- > 0; rest /= c.window.kernel[i])
      seen = tap_of(n, seen, c.window, i, rest % c.window.kernel[i]);
    Value weight = n.reshape(part_of(n, weights, 0, tap, 1), {n.dim(c.w, 0)});
    Value term = n.cast(seen, DType::kI32);
    if (x.zero) term = n.emit<SubOp>({term, x.zero});
    term = n.emit<MulOp>({term, weight});
    sums = sums ? n.emit<AddOp>({sums, term}) : term;
  }
  return sums;
}

// The sums of the convolution, as i32 [n, out..., m].
Value conv_sums(Node& n, const Convolution& c) {
  if (n.has_failed()) return {};
  if (n.rank(c.x) < 3 || n.rank(c.w) != n.rank(c.x))
    return n.fail("x must have rank 3 or more and w the rank of x, but they are " +
                  text_of(n.type(c.x)) + " and " + text_of(n.type(c.w)));
  DimExpr channels = n.dim(c.x, 1), group_channels = n.dim(c.w, 1), rows = n.dim(c.w, 0);
  if (c.group < 1 || (channels.is_constant() && group_channels.is_constant() &&
                      channels != group_channels * DimExpr(c.group)))
    return n.fail("x has " + channels.str() + " channels, expected dim 1 of w, " +
                  group_channels.str() + ", times group " + llvm::Twine(c.group));
  if (!rows.is_constant() || *rows.as_constant() % c.group != 0)
    return n.fail("w has " + rows.str() +
                  " output channels, expected a constant multiple of group " +
                  llvm::Twine(c.group));
  // With one output channel per group, each product would be a matrix of one column. Elementwise
  // ops over all channels compute the sums over the taps instead.
  if (c.group > 1 && group_channels.is_constant(1) && rows.is_constant(c.group))
    return depthwise_sums(n, c);
  Quantised x = with_type(n, c.x, c.x_zero, DType::kU8);
  x.values = n.move_axis(x.values, 1, n.rank(x.values) - 1);
  x.values = with_border(n, x, c.window);
  Quantised w = with_type(n, c.w, c.w_zero, DType::kI8);
  DimExpr group_rows = *rows.as_constant() / c.group;
  llvm::SmallVector<Value> parts;
  for (int64_t g = 0; g < c.group && !n.has_failed(); ++g) {
    Value own = part_of(n, x.values, n.rank(x.values) - 1, g, group_channels);
    Value weights = weight_matrix(n, part_of(n, w.values, 0, g, group_rows));
    parts.push_back(centred_product(n, {unfold(n, own, c.window), x.zero},
                                    {weights, channels_of(n, w.zero, g, group_rows)}));
  }
  if (n.has_failed()) return {};
  return n.concat(parts, n.rank(c.x) - 1);
}

// x_values is input `x`, or input `x` with its channels moved to axis 1.
Convolution convolution(Node& n, Value x_values, size_t x, size_t x_zero, size_t w, size_t w_zero) {
  Convolution c;
  byte_input(n, x);
  c.x = x_values;
  c.w = byte_input(n, w);
  c.x_zero = zero_input(n, x_zero, c.x);
  c.w_zero = zero_input(n, w_zero, c.w);
  if (c.x_zero && n.rank(c.x_zero) != 0)
    n.fail("the zero point of x must be a scalar, but is " + text_of(n.type(c.x_zero)));
  c.window = spatial_attributes(n, c.x, kernel_of(n, c.w));
  c.group = n.integer("group", 1);
  return c;
}

// [n, spatial..., c] -> [n, c, spatial...].
Value channels_first(Node& n, Value x) { return n.move_axis(x, n.rank(x) - 1, 1); }

Values conv_integer(Node& n) {
  return channels_first(n, conv_sums(n, convolution(n, n.input(0), 0, 2, 1, 3)));
}

}  // namespace

Value quantised_conv(Node& n, Value x) {
  Convolution c = convolution(n, x, 0, 2, 3, 5);
  Value sums = conv_sums(n, c);
  if (n.has_input(8)) sums = n.emit<AddOp>({sums, n.input(8)});
  return channels_first(n, rescale(n, sums, n.input(1), n.input(4), n.input(6), n.input(7)));
}

namespace {

Values qlinear_conv(Node& n) { return quantised_conv(n, n.input(0)); }

// --- Dequantised operands. ----------------------------------------------------------------------

// The largest depth whose i32 sums cannot overflow. A byte minus its zero point has a magnitude of
// at most 255.
constexpr int64_t kMostDepth = INT32_MAX / (255 * 255);

bool is_short(DimExpr depth) { return depth.is_constant() && *depth.as_constant() <= kMostDepth; }

bool is_at_most_rank(Node& n, const Dequantised& x, int64_t rank) {
  return n.rank(x.scale) <= rank && (!x.zero || n.rank(x.zero) <= rank);
}

// Reshapes [m, 1, 1, ...] to [m]. Null and scalars are returned unchanged.
Value per_channel(Node& n, Value parameter) {
  if (!parameter || n.rank(parameter) == 0) return parameter;
  return n.reshape(parameter, {n.dim(parameter, 0)});
}

}  // namespace

Value dequantised_product(Node& n, Value a, Value b, bool transpose_b) {
  std::optional<Dequantised> left = dequantised(a), right = dequantised(b);
  if (n.has_failed() || n.float_products() || !left || !right || n.rank(a) == 0 || n.rank(b) < 2)
    return {};
  if (transpose_b) {
    // One entry for each row of b, [m, 1], becomes one for each column.
    for (Value* parameter : {&right->scale, &right->zero}) {
      if (!*parameter || n.rank(*parameter) == 0) continue;
      if (n.rank(b) != 2 || n.rank(*parameter) != 2 || !n.dim(*parameter, 1).is_constant(1))
        return {};
      *parameter = per_channel(n, *parameter);
    }
    right->values = n.transpose(right->values, {1, 0});
  }
  // A scale that is the same along the depth can be moved out of the sum. There may be one scale
  // for a, and one for each column of b.
  if (!is_at_most_rank(n, *left, 0) || !is_at_most_rank(n, *right, 1)) return {};
  if (!is_short(n.dim(right->values, n.rank(b) - 2))) return {};
  return byte_product(n, left->values, left->zero, right->values, right->zero,
                      [&](Value sums) { return real_sums(n, sums, left->scale, right->scale); });
}

Value dequantised_conv(Node& n, Value x, Value w, Value bias) {
  std::optional<Dequantised> left = dequantised(x), right = dequantised(w);
  if (n.has_failed() || n.float_products() || !left || !right || n.rank(w) == 0 ||
      !is_at_most_rank(n, *left, 0))
    return {};
  DimExpr depth = 1;
  for (DimExpr dim : n.shape(w).drop_front(1)) depth = depth * dim;
  int64_t group = n.integer("group", 1);
  if (!is_short(depth) || group != 1) return {};
  for (Value parameter : {right->scale, right->zero})
    // Accepts one entry per output channel, [m, 1, 1, ...]. Other parameters vary within a sum.
    if (parameter && n.rank(parameter) > 0 &&
        (n.rank(parameter) != n.rank(w) ||
         n.dim(parameter, 0) != element_count(n.shape(parameter))))
      return {};
  Convolution c{spatial_attributes(n, x, kernel_of(n, w)),
                group,
                left->values,
                left->zero,
                right->values,
                per_channel(n, right->zero)};
  Value y = real_sums(n, conv_sums(n, c), left->scale, per_channel(n, right->scale));
  if (bias) y = n.emit<AddOp>({y, bias});
  return channels_first(n, y);
}

const OpRows kQuantisedContractionOps = {
    {"ConvInteger", 10, conv_integer},
    {"MatMulInteger", 10, matmul_integer},
    {"QLinearConv", 10, qlinear_conv},
    {"QLinearMatMul", 10, qlinear_matmul},
};

}  // namespace scopevm::compiler::frontend
