// Products and convolutions of quantised tensors, as u8 x i8 -> i32 ops, which have fast kernels.
// The zero points a0 and b0 are moved out of the sums over the depth:
//
//   sum (a - a0) * (b - b0) = sum a * b - a0 * (sum b - depth * b0) - b0 * sum a
//
// Sums of constant weights are folded, and terms whose zero point is known to be 0 are omitted. An
// i8 operand a becomes u8, and a u8 operand b becomes i8. For that, the highest bit of each element
// is flipped, and the zero point is shifted by 128.
//
// The sums of a * b are sv.matmul and sv.conv.
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "compiler/graph/type_rule.h"
#include "compiler/graph/values/constant_array.h"
#include "compiler/import/node/import_state.h"
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

// x: [n, c, spatial...] with the padding of `window`, which represents 0. `window` then has none
// unless the zero point is 0: the convolution pads with 0.
Value with_border(Node& n, Quantised x, SpatialAttributes& window) {
  if (n.has_failed()) return {};
  if (!x.zero) return with_symbolic_pads(n, x.values, window);
  const size_t rank = window.kernel.size();
  Dims pads(2 * (rank + 2), DimExpr(0));
  for (size_t i = 0; i < rank; ++i) {
    pads[2 + i] = window.symbolic_pads[i] + window.pads[i];
    pads[rank + 4 + i] = window.symbolic_pads[rank + i] + window.pads[rank + i];
  }
  window.pads.assign(2 * rank, 0);
  if (llvm::all_of(pads, [](DimExpr pad) { return pad.is_constant(0); })) return x.values;
  return n.pad(x.values, pads, n.cast(x.zero, n.dtype(x.values)));
}

// Reshapes a parameter of one entry per output channel: [m] -> [m, 1, ...], which broadcasts to
// [n, m, out...] with this number of spatial axes. Others are unchanged.
Value along_channels(Node& n, Value parameter, size_t spatial) {
  if (!parameter || n.rank(parameter) != 1) return parameter;
  Dims dims(spatial + 1, DimExpr(1));
  dims[0] = n.dim(parameter, 0);
  return n.reshape(parameter, dims);
}

// The sums of the weights of each output channel: [m].
Value channel_sums(Node& n, Value w) {
  DimExpr depth = 1;
  for (DimExpr dim : n.shape(w).drop_front(1)) depth = depth * dim;
  const DimExpr rows = n.dim(w, 0);
  const Value column = n.reshape(ones(n, depth), {depth, 1});
  return n.reshape(n.emit<MatMulOp>({n.reshape(w, {rows, depth}), column}), {rows});
}

// The convolution of u8 by i8 without zero points. Sequences are images of one row.
Value byte_conv(Node& n, Value x, Value w, const SpatialAttributes& window, int64_t group) {
  const auto emit = [&](Value image, Value weights, const SpatialAttributes& a) {
    return n.emit<ConvOp>({image, weights},
                          {n.attr("strides", a.strides), n.attr("pads", a.pads),
                           n.attr("dilations", a.dilations), n.attr("group", group)});
  };
  if (n.has_failed() || n.rank(x) != 3) return emit(x, w, window);
  const auto with_row = [&](Value value) {
    Dims dims(n.shape(value));
    dims.insert(dims.begin() + 2, DimExpr(1));
    return n.reshape(value, dims);
  };
  SpatialAttributes image = window;
  for (Ints* list : {&image.strides, &image.dilations}) list->insert(list->begin(), 1);
  image.pads = {0, window.pads[0], 0, window.pads[1]};
  const Value y = emit(with_row(x), with_row(w), image);
  if (n.has_failed()) return {};
  return n.reshape(y, {n.dim(y, 0), n.dim(y, 1), n.dim(y, 3)});
}

// The sums of each window of x, [n, m, out...]: a convolution by ones, whose result has one channel
// for each group.
Value window_sums(Node& n, Value x, Value w, const SpatialAttributes& window, int64_t group) {
  Dims dims(n.shape(w));
  const DimExpr rows = dims[0];
  dims[0] = group;
  DimExpr count = 1;
  for (DimExpr dim : dims) count = count * dim;
  const Value weights = n.cast(n.reshape(ones(n, count), dims), DType::kI8);
  Value sums = byte_conv(n, x, weights, window, group);
  if (group == 1 || n.has_failed()) return sums;
  Dims split(n.shape(sums)), whole(split);
  split.insert(split.begin() + 2, DimExpr(1));
  sums = n.reshape(sums, split);
  split[2] = floordiv(rows, group);
  whole[1] = rows;
  return n.reshape(n.expand(sums, split), whole);
}

// The sums of the convolution plus `bias`, [m], as i32 [n, m, out...]. The bias can be null.
Value conv_sums(Node& n, const Convolution& c, Value bias = {}) {
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
  const size_t spatial = c.window.kernel.size();
  SpatialAttributes window = c.window;
  Quantised x = with_type(n, c.x, c.x_zero, DType::kU8);
  const Quantised w = with_type(n, c.w, c.w_zero, DType::kI8);
  x.values = with_border(n, x, window);
  Value sums = byte_conv(n, x.values, w.values, window, c.group);
  if (w.zero)
    sums = n.emit<SubOp>({sums, n.emit<MulOp>({window_sums(n, x.values, w.values, window, c.group),
                                               along_channels(n, w.zero, spatial)})});
  if (n.has_failed()) return {};
  if (!x.zero) return bias ? n.emit<AddOp>({sums, along_channels(n, bias, spatial)}) : sums;
  Value of_channels = channel_sums(n, w.values);
  if (w.zero) {
    DimExpr depth = group_channels;
    for (int64_t size : c.window.kernel) depth = depth * DimExpr(size);
    of_channels = n.emit<SubOp>({of_channels, n.emit<MulOp>({w.zero, count_as_i32(n, depth)})});
  }
  const Value term = n.emit<MulOp>({x.zero, of_channels});
  if (!bias) return n.emit<SubOp>({sums, along_channels(n, term, spatial)});
  return n.emit<AddOp>({sums, along_channels(n, n.emit<SubOp>({bias, term}), spatial)});
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

Values conv_integer(Node& n) { return conv_sums(n, convolution(n, n.input(0), 0, 2, 1, 3)); }

}  // namespace

Value quantised_conv(Node& n, Value x) {
  Convolution c = convolution(n, x, 0, 2, 3, 5);
  const Value sums = conv_sums(n, c, n.input_or(8, Value()));
  const size_t spatial = c.window.kernel.size();
  const Value w_scale = along_channels(n, as_scalar(n, n.input(4)), spatial);
  return rescale(n, sums, n.input(1), w_scale, n.input(6), n.input(7));
}

namespace {

Values qlinear_conv(Node& n) { return quantised_conv(n, n.input(0)); }

// --- Dequantised operands. ----------------------------------------------------------------------

// The largest depth whose i32 sums cannot overflow. A byte minus its zero point has a magnitude of
// at most 255.
constexpr int64_t kMostDepth = INT32_MAX / (255 * 255);

bool is_short(DimExpr depth) { return depth.is_constant() && *depth.as_constant() <= kMostDepth; }

// As real_sums(), with a bias that may be null.
Value scaled_sums(Node& n, Value sums, Value a_scale, Value b_scale, Value bias = {}) {
  const Value scale = n.emit<MulOp>({as_scalar(n, a_scale), as_scalar(n, b_scale)});
  Value y = n.emit<MulOp>({n.cast(sums, DType::kF32), scale});
  if (bias) y = n.emit<AddOp>({y, bias});
  n.set_product(y, {sums, scale, bias});
  return y;
}

// The integers of a bias [m] that DequantizeLinear converts from i32 with the scale of the sums, so
// that they can be added to them. Null for any other bias.
Value bias_sums(Node& n, Value bias, Value a_scale, Value b_scale) {
  constexpr int64_t kMost = 1 << 30;  // sums have at most half of the range
  constexpr double kTolerance = 1e-6;
  auto product = bias ? bias.getDefiningOp<MulOp>() : MulOp();
  auto cast = product ? product.getA().getDefiningOp<CastOp>() : CastOp();
  if (!cast || n.has_failed() || n.dtype(cast.getX()) != DType::kI32) return {};
  const std::array<ConstantOp, 4> constants = {constant_source(cast.getX()),
                                               constant_source(product.getB()),
                                               constant_source(a_scale), constant_source(b_scale)};
  if (!llvm::all_of(constants, [](ConstantOp constant) { return constant != nullptr; })) return {};
  const ConstantArray numbers(constants[0]), own(constants[1]), a(constants[2]), b(constants[3]);
  const int64_t count = numbers.count();
  const auto is_one_or_all = [&](const ConstantArray& x) {
    return x.count() == 1 || x.count() == count;
  };
  if (a.count() != 1 || !is_one_or_all(own) || !is_one_or_all(b)) return {};
  for (int64_t i = 0; i < count; ++i) {
    const double scale = a.real(0) * b.real(b.count() == 1 ? 0 : i);
    if (std::abs(own.real(own.count() == 1 ? 0 : i) - scale) > kTolerance * scale ||
        std::abs(numbers.integer(i)) > kMost)
      return {};
  }
  return cast.getX();
}

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
                      [&](Value sums) { return scaled_sums(n, sums, left->scale, right->scale); });
}

Value dequantised_conv(Node& n, Value x, Value w, Value bias) {
  std::optional<Dequantised> left = dequantised(x), right = dequantised(w);
  if (n.has_failed() || n.float_products() || !left || !right || n.rank(w) == 0 ||
      !is_at_most_rank(n, *left, 0))
    return {};
  DimExpr depth = 1;
  for (DimExpr dim : n.shape(w).drop_front(1)) depth = depth * dim;
  if (!is_short(depth)) return {};
  for (Value parameter : {right->scale, right->zero})
    // Accepts one entry per output channel, [m, 1, 1, ...]. Other parameters vary within a sum.
    if (parameter && n.rank(parameter) > 0 &&
        (n.rank(parameter) != n.rank(w) ||
         n.dim(parameter, 0) != element_count(n.shape(parameter))))
      return {};
  Convolution c{spatial_attributes(n, x, kernel_of(n, w)),
                n.integer("group", 1),
                left->values,
                left->zero,
                right->values,
                per_channel(n, right->zero)};
  const size_t spatial = c.window.kernel.size();
  const Value w_scale = along_channels(n, per_channel(n, right->scale), spatial);
  const Value along = along_channels(n, bias, spatial);
  if (const Value integers = bias_sums(n, bias, left->scale, right->scale))
    return scaled_sums(n, conv_sums(n, c, integers), left->scale, w_scale);
  return scaled_sums(n, conv_sums(n, c), left->scale, w_scale, along);
}

const OpRows kQuantisedContractionOps = {
    {"ConvInteger", 10, conv_integer},
    {"MatMulInteger", 10, matmul_integer},
    {"QLinearConv", 10, qlinear_conv},
    {"QLinearMatMul", 10, qlinear_matmul},
};

}  // namespace scopevm::compiler::frontend
