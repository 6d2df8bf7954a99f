// QuantizeLinear, DequantizeLinear and DynamicQuantizeLinear: y = saturate(round(x / scale) + zero)
// and x = (y - zero) * scale. There is one scale per tensor, per index along an axis, or per block
// of an axis. quantised_contraction.cpp imports contractions of quantised tensors.
#include "compiler/import/ops/elementwise/quantised.h"

#include "compiler/graph/type_rule.h"
#include "compiler/graph/values/constant_array.h"
#include "compiler/import/model/onnx_types.h"
#include "compiler/import/ops/elementwise/byte_selection.h"
#include "compiler/import/ops/elementwise/small_casts.h"
#include "compiler/import/ops/op_table.h"

namespace scopevm::compiler::frontend {

using namespace graph;  // NOLINT: formulas read better without the prefix

namespace {

bool is_known_zero(Value value) {
  ConstantOp constant = constant_source(value);
  if (!constant) return false;
  ConstantArray array(constant);
  for (int64_t i = 0; i < array.count(); ++i)
    if (array.is_float() ? array.real(i) != 0 : array.integer(i) != 0) return false;
  return true;
}

// x / scale, rounded to the precision of `computed` if that has 16 bits.
Value quotient_of(Node& n, Value x, Value scale, DType computed) {
  Value quotient = n.emit<DivOp>({n.cast(x, DType::kF32), n.cast(scale, DType::kF32)});
  // The quotient is rounded to the precision of a 16-bit type.
  if (computed == DType::kF16 || computed == DType::kBF16)
    quotient = n.cast(n.cast(quotient, computed), DType::kF32);
  return quotient;
}

}  // namespace

Value quantise(Node& n, Value x, Value scale, Value zero, DType to) {
  return requantise(n, quotient_of(n, x, scale, n.dtype(scale)), zero, to);
}

// The cast saturates. The f32 sum is inexact only above 2^24, far beyond the saturation range.
Value requantise(Node& n, Value x, Value zero, DType to) {
  Value rounded = n.emit<RoundOp>({x});
  if (zero && !is_known_zero(zero)) rounded = n.emit<AddOp>({rounded, n.cast(zero, DType::kF32)});
  return n.cast(rounded, to);
}

ConstantOp constant_source(Value value) {
  if (auto reshape = value.getDefiningOp<ReshapeOp>()) value = reshape.getX();
  return value.getDefiningOp<ConstantOp>();
}

Value as_scalar(Node& n, Value parameter) {
  bool is_scalar = n.rank(parameter) == 1 && n.dim(parameter, 0).is_constant(1);
  return is_scalar ? n.reshape(parameter, {}) : parameter;
}

namespace {

bool is_byte(Value value) {
  DType dtype = mlir::cast<TensorType>(value.getType()).getDtype();
  return dtype == DType::kU8 || dtype == DType::kI8;
}

// The operand of a cast; any other value is returned unchanged.
Value before_cast(Value value) {
  auto cast = value.getDefiningOp<CastOp>();
  return cast ? cast.getX() : value;
}

}  // namespace

// Matches the formula that dequantize_linear emits.
std::optional<Dequantised> dequantised(Value value) {
  if (!value) return std::nullopt;  // a missing input, which the node has already reported
  auto product = value.getDefiningOp<MulOp>();
  auto cast = product ? product.getA().getDefiningOp<CastOp>() : CastOp();
  if (!cast || cast.getTo() != "f32") return std::nullopt;
  Dequantised found{cast.getX(), product.getB(), {}};
  if (auto distance = found.values.getDefiningOp<SubOp>()) {
    // A difference of bytes wraps around.
    if (tensor_type(distance.getResult()).getDtype() != DType::kI32) return std::nullopt;
    found.values = before_cast(distance.getA());
    found.zero = before_cast(distance.getB());
    if (!is_byte(found.zero)) return std::nullopt;
  }
  return is_byte(found.values) ? std::optional(found) : std::nullopt;
}

namespace {

// x and its quantisation parameters, reshaped to broadcast. The result is reshaped to `shape`.
struct Operands {
  Value x, scale, zero;  // zero: null when absent
  Dims shape;
};

// Reshapes [s] to [s, 1, 1, ...], which broadcasts along `axis` of x. A scalar is unchanged, and
// [1] becomes a scalar.
Value along_axis(Node& n, Value parameter, Value x, int64_t axis) {
  parameter = as_scalar(n, parameter);
  if (n.rank(parameter) == 0) return parameter;
  if (n.rank(parameter) != 1) {
    n.fail("scale and zero point must have rank 0 or 1, but one is " + text_of(n.type(parameter)));
    return {};
  }
  axis = n.axis(axis, n.rank(x));
  if (n.has_failed()) return {};
  DimExpr size = n.dim(x, axis), own = n.dim(parameter, 0);
  if (size.is_constant() && own.is_constant() && size != own) {
    n.fail("the scale or zero point has " + own.str() + " elements, expected " + size.str() +
           ", the size of axis " + llvm::Twine(axis));
    return {};
  }
  Dims dims(static_cast<size_t>(n.rank(x) - axis), DimExpr(1));
  dims[0] = own;
  return n.reshape(parameter, dims);
}

// Repeats each entry of `parameter` for `block` elements of x along `axis`.
Value repeat_blocks(Node& n, Value parameter, Value x, int64_t axis, int64_t block) {
  Dims split(n.shape(parameter)), whole(n.shape(parameter));
  split.insert(split.begin() + axis + 1, DimExpr(1));
  Value repeated = n.reshape(parameter, split);
  split[axis + 1] = block;
  whole[axis] = whole[axis] * DimExpr(block);
  repeated = n.reshape(n.expand(repeated, split), whole);
  // The last block is shorter if the size of the axis is not a multiple of `block`.
  if (whole[axis] == n.dim(x, axis)) return repeated;
  whole[axis] = n.dim(x, axis);
  return n.slice(repeated, Dims(whole.size(), DimExpr(0)), whole);
}

// Fails the node and returns false if `parameter` does not have one entry per block of x along
// `axis`. Compares constant dims only.
bool check_blocks(Node& n, Value parameter, Value x, int64_t axis, int64_t block) {
  if (n.rank(parameter) != n.rank(x))
    return n.fail("with block_size, scale and zero point must have the rank of x, but x is " +
                  text_of(n.type(x)) + " and one is " + text_of(n.type(parameter))),
           false;
  for (int64_t i = 0; i < n.rank(x); ++i) {
    DimExpr wanted = i == axis ? ceildiv(n.dim(x, i), block) : n.dim(x, i);
    DimExpr own = n.dim(parameter, i);
    if (wanted.is_constant() && own.is_constant() && wanted != own)
      return n.fail("with block_size " + llvm::Twine(block) + ", dim " + llvm::Twine(i) +
                    " of scale and zero point is " + own.str() + ", expected " + wanted.str()),
             false;
  }
  return true;
}

// Makes the parameters broadcast. If all blocks are complete, the axis of x is split into [blocks,
// block]. Otherwise the parameters are repeated.
void align_blocks(Node& n, Operands& o, int64_t axis, int64_t block) {
  axis = n.axis(axis, n.rank(o.x));
  for (Value parameter : {o.scale, o.zero})
    if (n.has_failed() || (parameter && !check_blocks(n, parameter, o.x, axis, block))) return;
  DimExpr blocks = n.dim(o.scale, axis);
  if (blocks * DimExpr(block) != n.dim(o.x, axis)) {
    o.scale = repeat_blocks(n, o.scale, o.x, axis, block);
    if (o.zero) o.zero = repeat_blocks(n, o.zero, o.x, axis, block);
    return;
  }
  Dims split(o.shape);
  split[axis] = blocks;
  split.insert(split.begin() + axis + 1, DimExpr(block));
  o.x = n.reshape(o.x, split);
  o.scale = n.unsqueeze(o.scale, {axis + 1});
  if (o.zero) o.zero = n.unsqueeze(o.zero, {axis + 1});
}

Operands operands_of(Node& n) {
  Operands o{n.input(0), n.input(1), n.input_or(2, Value()), Dims(n.shape(n.input(0)))};
  int64_t block = n.opset() >= 21 ? n.integer("block_size", 0) : 0;
  int64_t axis = n.integer("axis", 1);
  if (block < 0) n.fail("block_size is " + llvm::Twine(block) + ", expected at least 0");
  if (n.opset() < 13 && n.rank(as_scalar(n, o.scale)) != 0)
    n.fail("before opset 13 the scale must be a scalar, but is " + text_of(n.type(o.scale)));
  if (block > 0) {
    align_blocks(n, o, axis, block);
  } else {
    o.scale = along_axis(n, o.scale, o.x, axis);
    if (o.zero) o.zero = along_axis(n, o.zero, o.x, axis);
  }
  return o;
}

bool is_one_of(DType dtype, std::initializer_list<DType> dtypes) {
  return llvm::is_contained(dtypes, dtype);
}

// The element type of the result: output_dtype if it is given, else that of the zero point, else
// u8.
DType quantised_type(Node& n, Value zero) {
  DType to = zero ? n.dtype(zero) : DType::kU8;
  const int code = n.opset() >= 21 ? static_cast<int>(n.integer("output_dtype", 0)) : 0;
  const SmallType* small = zero ? n.small_type(2) : small_type(code);
  n.set_small_result(small);
  if (zero && code != 0 && small != small_type(code))
    return n.fail("output_dtype differs from the element type of the zero point"), to;
  if (small) return small->carrier;
  if (n.opset() >= 21 && n.integer("output_dtype", 0) != 0) {
    std::optional<DType> requested = dtype_of_onnx(static_cast<int>(n.integer("output_dtype", 0)));
    if (!requested)
      return n.unsupported("output_dtype " +
                           onnx_type_name(static_cast<int>(n.integer("output_dtype", 0))) +
                           " is not supported"),
             to;
    if (zero && *requested != to)
      return n.fail("output_dtype is " + std::string(name(*requested)) +
                    ", but the zero point has element type " + std::string(name(to))),
             to;
    to = *requested;
  }
  if (!is_one_of(to, {DType::kU8, DType::kI8, DType::kU16, DType::kI16}) ||
      (n.opset() < 21 && byte_size(to) == 2))
    n.fail("cannot quantise to " + std::string(name(to)) + ", expected " +
           (n.opset() < 21 ? "u8 or i8" : "u8, i8, u16 or i16"));
  return to;
}

// The element type of the division: that of the attribute, or of the scale without it.
DType division_type(Node& n) {
  const int64_t code = n.opset() >= 23 ? n.integer("precision", 0) : 0;
  if (code == 0) return n.small_type(1) ? DType::kF32 : n.dtype(n.input(1));
  const std::optional<DType> given = dtype_of_onnx(static_cast<int>(code));
  if (!given || small_type(static_cast<int>(code)) ||
      (*given != DType::kI32 && (!is_float(*given) || *given == DType::kF64)))
    return n.fail("precision is " + onnx_type_name(static_cast<int>(code)) +
                  ", expected FLOAT, FLOAT16, BFLOAT16 or INT32"),
           DType::kF32;
  return *given;
}

Values quantize_linear(Node& n) {
  Operands o = operands_of(n);
  DType to = quantised_type(n, n.input_or(2, Value()));
  if (n.has_failed()) return Value();
  const SmallType* small = n.small_result(0, o.x);
  const DType computed = division_type(n);
  if (!small && computed == DType::kF32)
    for (const auto rule : {select_bytes, requantised_product})
      if (Value bytes = rule(n, o.x, o.scale, o.zero, to)) return n.reshape(bytes, o.shape);
  Value y = quotient_of(n, o.x, o.scale, computed);
  if (!small) return n.reshape(requantise(n, y, o.zero, to), o.shape);
  if (small->kind == SmallType::Kind::kInteger) y = n.emit<RoundOp>({y});
  if (o.zero && !is_known_zero(o.zero)) y = n.emit<AddOp>({y, n.cast(o.zero, DType::kF32)});
  return n.reshape(quantise_to_small(n, y, *small, n.flag("saturate", true)), o.shape);
}

// The element type of the result: that of the attribute, or of the scale without it.
DType dequantised_type(Node& n) {
  const int64_t code = n.opset() >= 23 ? n.integer("output_dtype", 0) : 0;
  if (code == 0) return n.small_type(1) ? DType::kF32 : n.dtype(n.input(1));
  const std::optional<DType> given = dtype_of_onnx(static_cast<int>(code));
  if (!given || small_type(static_cast<int>(code)) || !is_float(*given))
    return n.fail("output_dtype is " + onnx_type_name(static_cast<int>(code)) +
                  ", expected FLOAT, FLOAT16 or BFLOAT16"),
           DType::kF32;
  return *given;
}

Values dequantize_linear(Node& n) {
  Operands o = operands_of(n);
  DType from = n.dtype(o.x), to = dequantised_type(n);
  const SmallType* small = n.small_type(0);
  n.set_small_result(nullptr);
  if (n.has_failed()) return Value();
  if (n.has_input(2) && n.small_type(2) != small)
    return n.fail("x and the zero point have different element types");
  const bool is_permitted =
      small || (is_one_of(from, {DType::kU8, DType::kI8, DType::kU16, DType::kI16, DType::kI32}) &&
                (n.opset() >= 21 || byte_size(from) != 2));
  if (!is_permitted)
    return n.fail("x has element type " + std::string(name(from)) + ", expected " +
                  (n.opset() < 21 ? "u8, i8 or i32" : "u8, i8, u16, i16 or i32"));
  if (o.zero && n.dtype(o.zero) != from)
    return n.fail("the zero point has element type " + std::string(name(n.dtype(o.zero))) +
                  ", expected " + std::string(name(from)) + ", the type of x");
  Value x = o.x;
  // In i32, because the difference of two 8-bit or 16-bit numbers needs one bit more.
  const DType exact = is_float(from) ? DType::kF32 : DType::kI32;
  if (o.zero && !is_known_zero(o.zero))
    x = n.emit<SubOp>({n.cast(x, exact), n.cast(o.zero, exact)});
  Value y = n.emit<MulOp>({n.cast(x, DType::kF32), n.cast(o.scale, DType::kF32)});
  return n.reshape(n.cast(y, to), o.shape);
}

}  // namespace

// The range is extended to include 0. If all elements are 0, the scale is 1, as in ONNX Runtime.
DynamicallyQuantised quantise_dynamically(Node& n, Value x) {
  auto all = {n.attr("axes", first_axes(n.rank(x))), n.attr("keep_dims", false)};
  Value nothing = n.scalar(0, x);
  Value high = n.emit<MaxOp>({n.emit<ReduceMaxOp>({x}, all), nothing});
  Value low = n.emit<MinOp>({n.emit<ReduceMinOp>({x}, all), nothing});
  Value span = n.emit<SubOp>({high, low});
  Value scale = n.emit<SelectOp>(
      {n.emit<EqualOp>({span, nothing}), n.scalar(1, x), n.emit<DivOp>({span, n.scalar(255, x)})});
  Value zero = quantise(n, n.emit<SubOp>({nothing, low}), scale, Value(), DType::kU8);
  return {quantise(n, x, scale, zero, DType::kU8), scale, zero};
}

namespace {

Values dynamic_quantize_linear(Node& n) {
  DynamicallyQuantised q = quantise_dynamically(n, n.input(0));
  return {q.values, q.scale, q.zero};
}

}  // namespace

const OpRows kQuantisedOps = {
    {"DequantizeLinear", 10, dequantize_linear},
    {"DequantizeLinear", 21, dequantize_linear,
     OpSignature{"x x_scale x_zero_point?", "axis block_size"}},
    {"DequantizeLinear", 23, dequantize_linear,
     OpSignature{"x x_scale x_zero_point?", "axis block_size output_dtype"}},
    {"DynamicQuantizeLinear", 11, dynamic_quantize_linear},
    {"QuantizeLinear", 10, quantize_linear},
    {"QuantizeLinear", 21, quantize_linear,
     OpSignature{"x y_scale y_zero_point?", "axis block_size output_dtype saturate"}},
    {"QuantizeLinear", 23, quantize_linear,
     OpSignature{"x y_scale y_zero_point?", "axis block_size output_dtype precision saturate"}},
    {"QuantizeLinear", 19, quantize_linear,
     OpSignature{"x y_scale y_zero_point?", "axis saturate"}},
};

}  // namespace scopevm::compiler::frontend
