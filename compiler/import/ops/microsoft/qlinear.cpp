// com.microsoft ops on 8-bit tensors with one scale and zero point each. They are computed on the
// dequantised values in f32, and the result is quantised.
#include "compiler/graph/type_rule.h"
#include "compiler/import/node/checks.h"
#include "compiler/import/ops/elementwise/quantised.h"
#include "compiler/import/ops/op_table.h"
#include "compiler/import/ops/pooling/pooling.h"

namespace scopevm::compiler::frontend {
namespace {

using namespace graph;  // NOLINT: formulas read better without the prefix

// The scale at input `i`: a scalar f32.
Value scale_input(Node& n, size_t i) {
  Value scale = n.input(i);
  const std::string what = "the scale, input " + std::to_string(i) + ",";
  if (!check_dtype(n, scale, what, {DType::kF32})) return {};
  return shaped(n, as_scalar(n, scale), what, {});
}

// The zero point at input `i` of a tensor of type u8 or i8: a scalar. Null if absent.
Value scalar_zero(Node& n, size_t i, std::optional<DType> dtype) {
  Value zero = n.input_or(i, Value());
  if (!zero || n.has_failed()) return {};
  const std::string what = "the zero point, input " + std::to_string(i) + ",";
  const bool is_valid = dtype ? check_dtype(n, zero, what, {*dtype})
                              : check_dtype(n, zero, what, {DType::kU8, DType::kI8});
  return is_valid ? shaped(n, as_scalar(n, zero), what, {}) : Value();
}

// The f32 values of the tensor at input `x`, whose scale and zero point are at `scale` and the
// input after it.
Formula real_input(Node& n, size_t x, size_t scale) {
  Value bytes = n.input(x);
  if (!check_dtype(n, bytes, "input " + std::to_string(x), {DType::kU8, DType::kI8}))
    return {n, Value()};
  Formula values = Formula(n, bytes).as(DType::kF32);
  if (Value zero = scalar_zero(n, scale + 1, n.dtype(bytes)))
    values = values - Formula(n, zero).as(DType::kF32);
  return values * Formula(n, scale_input(n, scale));
}

// The quantised y. Its scale and zero point are at `scale` and the input after it. Without a zero
// point, the element type is that of input `like`.
Value quantised_result(Node& n, const Formula& y, size_t scale, size_t like) {
  Value zero = scalar_zero(n, scale + 1, std::nullopt);
  const DType dtype = n.dtype(zero ? zero : n.input(like));
  if (n.has_failed()) return {};
  return requantise(n, y / Formula(n, scale_input(n, scale)), zero, dtype);
}

template <typename Op>
Values qlinear_binary(Node& n) {
  return quantised_result(n, real_input(n, 0, 1).binary<Op>(real_input(n, 3, 4)), 6, 0);
}

Values qlinear_sigmoid(Node& n) {
  return quantised_result(n, real_input(n, 0, 1).unary<SigmoidOp>(), 3, 0);
}

Values qlinear_leaky_relu(Node& n) {
  Formula x = real_input(n, 0, 1);
  return quantised_result(n, select(x < 0.0, x * n.number("alpha", 0.01f), x), 3, 0);
}

// Before opset 13 of the standard domain, which an attribute states, Softmax is over all axes from
// `axis` on.
Values qlinear_softmax(Node& n) {
  Formula x = real_input(n, 0, 1);
  const int64_t opset = required_within(n, "opset", 1, 1000);
  const int64_t axis = n.axis(n.integer("axis", opset < 13 ? 1 : -1), x.rank());
  if (n.has_failed()) return Value();
  const Dims dims(x.shape());
  if (opset >= 13)
    return quantised_result(n, {n, n.emit<SoftmaxOp>({x}, {n.attr("axis", axis)})}, 3, 0);
  DimExpr rows = 1, columns = 1;
  for (size_t i = 0; i < dims.size(); ++i) {
    DimExpr& size = static_cast<int64_t>(i) < axis ? rows : columns;
    size = size * dims[i];
  }
  Formula y(n, n.emit<SoftmaxOp>({x.reshape({rows, columns})}, {n.attr("axis", int64_t{1})}));
  return quantised_result(n, y.reshape(dims), 3, 0);
}

Values qlinear_where(Node& n) {
  Formula condition(n, n.input(0));
  if (!check_dtype(n, condition, "condition", {DType::kBool})) return Value();
  Formula y = select(condition, real_input(n, 1, 2), real_input(n, 4, 5));
  return quantised_result(n, y, 7, 1);
}

Values qlinear_concat(Node& n) {
  const size_t parts = (n.input_count() - 2) / 3;
  if (n.input_count() < 5 || n.input_count() % 3 != 2)
    return n.fail("the node has " + llvm::Twine(n.input_count()) +
                  " inputs, expected 2 and 3 for each tensor");
  llvm::SmallVector<Value> values;
  for (size_t i = 0; i < parts; ++i) values.push_back(real_input(n, 2 + 3 * i, 3 + 3 * i));
  if (!n.has_attribute("axis")) n.fail("attribute \"axis\" is missing");
  const int64_t axis = n.axis(n.integer("axis", 0), n.rank(values[0]));
  if (n.has_failed()) return Value();
  return quantised_result(n, {n, n.concat(values, axis)}, 0, 2);
}

Values qlinear_reduce_mean(Node& n) {
  Formula x = real_input(n, 0, 1);
  Ints axes = n.has_attribute("axes") ? n.axes(n.integers("axes"), x.rank()) : first_axes(x.rank());
  if (n.has_failed()) return Value();
  Formula y(n, n.emit<ReduceMeanOp>(
                   {x}, {n.attr("axes", axes), n.attr("keep_dims", n.flag("keepdims", true))}));
  return quantised_result(n, y, 3, 0);
}

// --- Pools. -------------------------------------------------------------------------------------

Values qlinear_average_pool(Node& n) {
  const bool is_last = n.flag("channels_last", false);
  Value x = real_input(n, 0, 1);
  Value y = average_pool_of(n, is_last ? to_channels_first(n, x) : x);
  return quantised_result(n, {n, is_last ? to_channels_last(n, y) : y}, 3, 0);
}

Values qlinear_global_average_pool(Node& n) {
  Formula x = real_input(n, 0, 1);
  if (!check_rank(n, x, "X", 3, 16)) return Value();
  const int64_t first = n.flag("channels_last", false) ? 1 : 2;
  Ints axes;
  for (int64_t i = 0; i < x.rank() - 2; ++i) axes.push_back(first + i);
  return quantised_result(n, {n, n.reduce_mean(x, axes)}, 3, 0);
}

Values nhwc_max_pool(Node& n) {
  Value x = n.input(0);
  if (!check_dtype(n, x, "x", {DType::kU8, DType::kI8})) return Value();
  return to_channels_last(n, max_pool_of(n, to_channels_first(n, x)));
}

// --- QuantizeLinear and DequantizeLinear. -------------------------------------------------------

// A scale or zero point, which broadcasts to x. Unlike in the standard domain, there is one for
// each index along an axis only if the attribute `axis` is present.
Value along_given_axis(Node& n, Value parameter, Value x) {
  parameter = as_scalar(n, parameter);
  if (n.has_failed() || n.rank(parameter) == 0) return parameter;
  if (!n.has_attribute("axis"))
    return n.fail("the scale or zero point is " + text_of(n.type(parameter)) +
                  ", expected a scalar, because attribute \"axis\" is missing"),
           Value();
  const int64_t axis = n.axis(n.integer("axis", 0), n.rank(x));
  if (n.has_failed()) return {};
  Dims dims(static_cast<size_t>(n.rank(x) - axis), DimExpr(1));
  dims[0] = n.dim(x, axis);
  return n.reshape(shaped(n, parameter, "the scale or zero point", {dims[0]}), dims);
}

Values microsoft_quantize_linear(Node& n) {
  Value x = n.input(0), scale = n.input(1), zero = n.input_or(2, Value());
  const DType to = zero ? n.dtype(zero) : DType::kU8;
  if (!check_dtype(n, x, "x", {DType::kF32, DType::kF16}) ||
      !check_dtype(n, scale, "y_scale", {n.dtype(x)}))
    return Value();
  if (zero &&
      !check_dtype(n, zero, "y_zero_point", {DType::kU8, DType::kI8, DType::kU16, DType::kI16}))
    return Value();
  scale = along_given_axis(n, scale, x);
  if (zero) zero = along_given_axis(n, zero, x);
  return quantise(n, x, scale, zero, to);
}

Values microsoft_dequantize_linear(Node& n) {
  Value x = n.input(0), scale = n.input(1), zero = n.input_or(2, Value());
  if (!check_dtype(n, x, "x", {DType::kU8, DType::kI8, DType::kU16, DType::kI16, DType::kI32}) ||
      !check_dtype(n, scale, "x_scale", {DType::kF32, DType::kF16}) ||
      (zero && !check_dtype(n, zero, "x_zero_point", {n.dtype(x)})))
    return Value();
  const DType to = n.dtype(scale);
  Formula values = Formula(n, x).as(DType::kI32);
  if (zero) values = values - Formula(n, along_given_axis(n, zero, x)).as(DType::kI32);
  return (values.as(DType::kF32) * Formula(n, along_given_axis(n, scale, x)).as(DType::kF32))
      .as(to);
}

constexpr char kQLinearBinary[] =
    "A A_scale A_zero_point? B B_scale B_zero_point? C_scale C_zero_point?";
constexpr char kQLinearUnary[] = "X X_scale X_zero_point? Y_scale Y_zero_point?";

}  // namespace

const OpRows kQLinearOps = {
    {"DequantizeLinear", 1, microsoft_dequantize_linear,
     OpSignature{"x x_scale x_zero_point?", "axis"}},
    {"NhwcMaxPool", 1, nhwc_max_pool,
     OpSignature{"x", "auto_pad ceil_mode dilations kernel_shape pads strides"}},
    {"QLinearAdd", 1, qlinear_binary<AddOp>, OpSignature{kQLinearBinary, ""}},
    {"QLinearAveragePool", 1, qlinear_average_pool,
     OpSignature{kQLinearUnary,
                 "auto_pad ceil_mode channels_last count_include_pad kernel_shape pads strides"}},
    {"QLinearConcat", 1, qlinear_concat, OpSignature{"Y_scale Y_zero_point inputs...", "axis"}},
    {"QLinearGlobalAveragePool", 1, qlinear_global_average_pool,
     OpSignature{"X x_scale x_zero_point y_scale y_zero_point", "channels_last"}},
    {"QLinearLeakyRelu", 1, qlinear_leaky_relu, OpSignature{kQLinearUnary, "alpha"}},
    {"QLinearMul", 1, qlinear_binary<MulOp>, OpSignature{kQLinearBinary, ""}},
    {"QLinearReduceMean", 1, qlinear_reduce_mean, OpSignature{kQLinearUnary, "axes keepdims"}},
    {"QLinearSigmoid", 1, qlinear_sigmoid, OpSignature{kQLinearUnary, ""}},
    {"QLinearSoftmax", 1, qlinear_softmax, OpSignature{kQLinearUnary, "axis opset"}},
    {"QLinearWhere", 1, qlinear_where,
     OpSignature{"condition X x_scale x_zero_point Y y_scale y_zero_point z_scale z_zero_point",
                 ""}},
    {"QuantizeLinear", 1, microsoft_quantize_linear,
     OpSignature{"x y_scale y_zero_point?", "axis"}},
};

}  // namespace scopevm::compiler::frontend
