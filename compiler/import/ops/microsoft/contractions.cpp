// com.microsoft products and convolutions: those with transposed operands, fused activations, or
// channels last, and those of 8-bit tensors.
#include "compiler/graph/type_rule.h"
#include "compiler/import/node/checks.h"
#include "compiler/import/ops/contraction/contraction.h"
#include "compiler/import/ops/contraction/quantised_contraction.h"
#include "compiler/import/ops/convolution/convolution.h"
#include "compiler/import/ops/elementwise/activation.h"
#include "compiler/import/ops/elementwise/quantised.h"
#include "compiler/import/ops/op_table.h"

namespace scopevm::compiler::frontend {
namespace {

using namespace graph;  // NOLINT: formulas read better without the prefix

// --- Matrix products. ---------------------------------------------------------------------------

// Moves the first axis before the last one, so that the axes between them are the batch.
Value batch_first(Node& n, Value x) { return n.rank(x) < 3 ? x : n.move_axis(x, 0, n.rank(x) - 2); }

Values matrix_product(Node& n, bool has_batches) {
  Value a = n.input(0), b = n.input(1);
  if (n.has_failed() || !is_float(n.dtype(a)))
    return n.fail("A is " + text_of(n.type(a)) + ", expected floats");
  if (has_batches && n.flag("transBatchA", false)) a = batch_first(n, a);
  if (has_batches && n.flag("transBatchB", false)) b = batch_first(n, b);
  // A vector has no transpose.
  const bool transpose_a = n.flag("transA", false) && n.rank(a) > 1;
  const bool transpose_b = n.flag("transB", false) && n.rank(b) > 1;
  Value y = n.emit<MatMulOp>(
      {a, b}, {n.attr("transpose_a", transpose_a), n.attr("transpose_b", transpose_b)});
  const float alpha = n.number("alpha", 1);
  return alpha == 1 ? y : n.emit<MulOp>({y, n.scalar(alpha, y)});
}

Values fused_matmul(Node& n) { return matrix_product(n, true); }
Values transpose_matmul(Node& n) { return matrix_product(n, false); }

// The function `name` of x. Clip has the parameters min and max.
Value activated(Node& n, Value x, const std::string& name, llvm::ArrayRef<float> parameters) {
  if (name.empty() || n.has_failed()) return x;
  if (name != "Clip") return emit_activation(n, activation_named(n, name, parameters), x);
  if (parameters.size() != 2)
    return n.fail("Clip has " + llvm::Twine(parameters.size()) + " parameters, expected 2"),
           Value();
  return n.emit<MinOp>(
      {n.emit<MaxOp>({x, n.scalar(parameters[0], x)}), n.scalar(parameters[1], x)});
}

Values fused_gemm(Node& n) {
  llvm::SmallVector<float> parameters;
  for (const char* name : {"activation_alpha", "activation_beta"})
    if (n.has_attribute(name)) parameters.push_back(n.number(name, 0));
  return activated(n, gemm_of(n), n.text("activation", ""), parameters);
}

// --- Convolutions. ------------------------------------------------------------------------------

Values fused_conv(Node& n) {
  Value y = convolution_of(n, n.input(0), n.input(1));
  if (n.has_failed()) return Value();
  if (Value z = shaped_input(n, 3, "Z", Dims(n.shape(y)))) y = n.emit<AddOp>({y, z});
  return activated(n, y, n.text("activation", ""), n.numbers("activation_params"));
}

// The weights are [m, kernel..., c / group].
Values nhwc_conv(Node& n) {
  Value x = to_channels_first(n, n.input(0)), w = to_channels_first(n, n.input(1));
  return to_channels_last(n, convolution_of(n, x, w));
}

Values microsoft_qlinear_conv(Node& n) {
  if (!n.flag("channels_last", false)) return quantised_conv(n, n.input(0));
  return to_channels_last(n, quantised_conv(n, to_channels_first(n, n.input(0))));
}

// --- Products of 8-bit tensors. -----------------------------------------------------------------

Value with_bias(Node& n, Value y, size_t input) {
  const Value bias = n.input_or(input, Value());
  return bias ? n.emit<AddOp>({y, bias}) : y;
}

bool check_scales(Node& n, std::initializer_list<Value> scales) {
  for (Value scale : scales)
    if (!check_dtype(n, scale, "a scale", {DType::kF32}) || !check_rank(n, scale, "a scale", 0, 1))
      return false;
  return true;
}

Values dynamic_quantize_matmul(Node& n) {
  Value a = n.input(0), b = byte_input(n, 1), b_scale = n.input(2);
  if (!check_dtype(n, a, "A", {DType::kF32}) || !check_scales(n, {b_scale})) return Value();
  return with_bias(n, dynamically_quantised_product(n, a, b, b_scale, zero_input(n, 3, b)), 4);
}

Values matmul_integer_to_float(Node& n) {
  Value a = byte_input(n, 0), b = byte_input(n, 1), a_scale = n.input(2), b_scale = n.input(3);
  if (!check_scales(n, {a_scale, b_scale})) return Value();
  const auto finish = [&](Value sums) { return real_sums(n, sums, a_scale, b_scale); };
  return with_bias(n, byte_product(n, a, zero_input(n, 4, a), b, zero_input(n, 5, b), finish), 6);
}

// alpha * (A' * B' + C) with quantised A and B. C is i32, with the scale of the sums. Without a
// scale, the result is f32.
Values qgemm(Node& n) {
  Value a = byte_input(n, 0), a_scale = n.input(1), b = byte_input(n, 3), b_scale = n.input(4);
  if (!check_scales(n, {a_scale, b_scale}) || !check_rank(n, a, "A", 2, 2) ||
      !check_rank(n, b, "B", 2, 2))
    return Value();
  Value a_zero = zero_input(n, 2, a), b_zero = zero_input(n, 5, b);
  if (n.flag("transA", false)) a = n.transpose(a, {1, 0});
  if (n.flag("transB", false)) b = n.transpose(b, {1, 0});
  Value c = n.input_or(6, Value()), y_scale = n.input_or(7, Value());
  if (c && !check_dtype(n, c, "C", {DType::kI32})) return Value();
  return byte_product(n, a, a_zero, b, b_zero, [&](Value sums) -> Value {
    if (c) sums = n.emit<AddOp>({sums, c});
    Value scale = n.emit<MulOp>({as_scalar(n, a_scale), as_scalar(n, b_scale)});
    scale = n.emit<MulOp>({scale, n.scalar(n.number("alpha", 1), DType::kF32)});
    if (!y_scale) return n.emit<MulOp>({n.cast(sums, DType::kF32), scale});
    if (!check_scales(n, {y_scale})) return {};
    scale = n.emit<DivOp>({scale, as_scalar(n, y_scale)});
    Value zero = n.input_or(8, Value());
    if (zero && !check_dtype(n, zero, "the zero point of the result", {DType::kU8, DType::kI8}))
      return {};
    Value y = n.emit<MulOp>({n.cast(sums, DType::kF32), scale});
    return requantise(n, y, zero ? as_scalar(n, zero) : Value(), zero ? n.dtype(zero) : n.dtype(a));
  });
}

constexpr char kNhwcConvAttributes[] = "auto_pad dilations group kernel_shape pads strides";

}  // namespace

const OpRows kMicrosoftContractionOps = {
    {"DynamicQuantizeMatMul", 1, dynamic_quantize_matmul,
     OpSignature{"A B b_scale b_zero_point? bias?", ""}},
    {"FusedConv", 1, fused_conv,
     OpSignature{
         "X W B? Z?",
         "activation activation_params auto_pad dilations group kernel_shape pads strides"}},
    {"FusedGemm", 1, fused_gemm,
     OpSignature{"A B C?",
                 "activation activation_alpha activation_beta activation_gamma alpha beta transA "
                 "transB"}},
    {"FusedMatMul", 1, fused_matmul,
     OpSignature{"A B", "alpha transA transB transBatchA transBatchB"}},
    {"MatMulIntegerToFloat", 1, matmul_integer_to_float,
     OpSignature{"A B a_scale b_scale a_zero_point? b_zero_point? bias?", ""}},
    {"NhwcConv", 1, nhwc_conv, OpSignature{"X W B?", kNhwcConvAttributes}},
    {"QGemm", 1, qgemm,
     OpSignature{"A a_scale a_zero_point B b_scale b_zero_point C? y_scale? y_zero_point?",
                 "alpha transA transB"}},
    {"QLinearConv", 1, microsoft_qlinear_conv,
     OpSignature{"x x_scale x_zero_point w w_scale w_zero_point y_scale y_zero_point B?",
                 "auto_pad channels_last dilations group kernel_shape pads strides"}},
    {"TransposeMatMul", 1, transpose_matmul, OpSignature{"A B", "alpha transA transB"}},
};

}  // namespace scopevm::compiler::frontend
