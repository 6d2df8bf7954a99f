// ONNX normalisation ops, as formulas.

#include "compiler/graph/type_rule.h"
#include "compiler/import/node/formula.h"
#include "compiler/import/ops/op_table.h"

namespace scopevm::compiler::frontend {
namespace {

using namespace graph;  // NOLINT: formulas read better without the prefix

// [c] -> [c, 1, ...], which broadcasts to a tensor [n, c, ...] of rank `rank`.
Value per_channel(Node& n, Value x, int64_t rank) {
  Dims dims = {n.dim(x, 0)};
  for (int64_t axis = 2; axis < rank; ++axis) dims.push_back(1);
  return n.reshape(x, dims);
}

Ints axes_from(int64_t first, int64_t rank) {
  Ints axes;
  for (int64_t axis = first; axis < rank; ++axis) axes.push_back(axis);
  return axes;
}

Value add_scalar(Node& n, Value x, double y) { return n.emit<AddOp>({x, n.scalar(y, x)}); }

Value reciprocal_deviation(Node& n, Value variance, float epsilon) {
  return n.emit<ReciprocalOp>({n.emit<SqrtOp>({add_scalar(n, variance, epsilon)})});
}

// Training mode: uses the mean and variance of x over all dims except the channels, and returns
// updated running statistics.
Values batch_normalization_in_training(Node& n) {
  Formula x(n, n.input(0));
  if (x.rank() < 2)
    return n.fail("the input must have rank 2 or more, but is " + text_of(n.type(x)));
  Ints axes = axes_from(2, x.rank());
  axes.insert(axes.begin(), 0);
  Formula mean(n, n.reduce_mean(x, axes)), centred = x - mean;
  Formula variance(n, n.reduce_mean(centred * centred, axes));
  Formula scale(n, per_channel(n, n.cast(n.input(1), x.dtype()), x.rank()));
  Formula bias(n, per_channel(n, n.cast(n.input(2), x.dtype()), x.rank()));
  double momentum = n.number("momentum", 0.9f);
  auto running = [&](size_t input, const Formula& now) {
    Formula before(n, n.input(input));
    if (n.has_failed()) return before;
    return before * momentum + now.reshape({n.dim(x, 1)}).as(before.dtype()) * (1 - momentum);
  };
  Formula y = centred / sqrt(variance + n.number("epsilon", 1e-5f)) * scale + bias;
  return {y, running(3, mean), running(4, variance)};
}

// Inference: x * (scale / deviation) + (bias - mean * scale / deviation). The terms in parentheses
// are folded if the inputs are constants.
Values batch_normalization(Node& n) {
  // Before opset 7, training was the default.
  bool is_training = n.opset() < 7 ? !n.flag("is_test", false) : n.flag("training_mode", false);
  if (is_training && n.opset() >= 14) return batch_normalization_in_training(n);
  if (is_training || n.wants_output(1)) return n.unsupported("training mode is not supported");
  if (!n.flag("spatial", true)) return n.unsupported("spatial = 0 is not supported");
  Value x = n.input(0);
  Value factor =
      n.emit<MulOp>({n.input(1), reciprocal_deviation(n, n.cast(n.input(4), n.dtype(n.input(1))),
                                                      n.number("epsilon", 1e-5f))});
  Value mean = n.cast(n.input(3), n.dtype(factor));
  Value offset = n.emit<SubOp>({n.input(2), n.emit<MulOp>({mean, factor})});
  factor = n.cast(factor, n.dtype(x));
  offset = n.cast(offset, n.dtype(x));
  Value scaled = n.emit<MulOp>({x, per_channel(n, factor, n.rank(x))});
  return n.emit<AddOp>({scaled, per_channel(n, offset, n.rank(x))});
}

// (x - mean) / deviation, with mean and deviation over the axes.
Value standardise(Node& n, Value x, const Ints& axes, float epsilon, Value* mean_out = nullptr,
                  Value* reciprocal_out = nullptr) {
  Value mean = n.reduce_mean(x, axes);
  Value centred = n.emit<SubOp>({x, mean});
  Value variance = n.reduce_mean(n.emit<MulOp>({centred, centred}), axes);
  Value reciprocal = reciprocal_deviation(n, variance, epsilon);
  if (mean_out) *mean_out = mean;
  if (reciprocal_out) *reciprocal_out = reciprocal;
  return n.emit<MulOp>({centred, reciprocal});
}

// Fails unless the input has the element type of x.
bool has_dtype_of(Node& n, size_t input, Value x, const char* name) {
  const TensorType type = n.type(n.input(input));
  if (n.has_failed() || type.getDtype() == n.dtype(x)) return !n.has_failed();
  n.fail(llvm::Twine(name) + " is " + text_of(type) + ", but the input is " + text_of(n.type(x)));
  return false;
}

// Fails unless the input has one element per channel of x.
bool is_per_channel(Node& n, size_t input, Value x, const char* name) {
  if (!has_dtype_of(n, input, x, name)) return false;
  const TensorType type = n.type(n.input(input));
  if (type.getRank() == 1 && may_be_equal(type.getDim(0), n.dim(x, 1))) return true;
  n.fail(llvm::Twine(name) + " is " + text_of(type) + ", expected one element for each of the " +
         n.dim(x, 1).str() + " channels");
  return false;
}

Values instance_normalization(Node& n) {
  Value x = n.input(0);
  if (n.rank(x) < 2)
    return n.fail("the input must have rank 2 or more, but is " + text_of(n.type(x)));
  if (!is_per_channel(n, 1, x, "scale") || !is_per_channel(n, 2, x, "B")) return Value();
  Value y = standardise(n, x, axes_from(2, n.rank(x)), n.number("epsilon", 1e-5f));
  y = n.emit<MulOp>({y, per_channel(n, n.input(1), n.rank(x))});
  return n.emit<AddOp>({y, per_channel(n, n.input(2), n.rank(x))});
}

// Fails unless the input has the element type of x and broadcasts to the dims of x.
bool is_parameter(Node& n, size_t input, Value x, const char* name) {
  if (!has_dtype_of(n, input, x, name)) return false;
  const TensorType type = n.type(n.input(input));
  const int64_t skipped = n.rank(x) - type.getRank();
  bool fits = skipped >= 0;
  for (int64_t axis = 0; fits && axis < type.getRank(); ++axis)
    fits = may_be_equal(type.getDim(axis), 1) ||
           may_be_equal(type.getDim(axis), n.dim(x, skipped + axis));
  if (fits) return true;
  n.fail(llvm::Twine(name) + " is " + text_of(type) + ", which does not broadcast to the input " +
         text_of(n.type(x)));
  return false;
}

Values layer_normalization(Node& n) {
  Value x = n.input(0), scale = n.input(1);
  int64_t axis = n.axis(n.integer("axis", -1), n.rank(x));
  float epsilon = n.number("epsilon", 1e-5f);
  if (n.has_failed() || !is_parameter(n, 1, x, "scale") ||
      (n.has_input(2) && !is_parameter(n, 2, x, "B")))
    return Value();
  if (!n.wants_output(1) && !n.wants_output(2)) {
    llvm::SmallVector<Value> operands = {x, scale};
    if (n.has_input(2)) operands.push_back(n.input(2));
    return n.emit<LayerNormOp>(operands, {n.attr("axis", axis), n.attr("epsilon", epsilon)});
  }
  Value mean, reciprocal;
  Value y = n.emit<MulOp>(
      {standardise(n, x, axes_from(axis, n.rank(x)), epsilon, &mean, &reciprocal), scale});
  if (n.has_input(2)) y = n.emit<AddOp>({y, n.input(2)});
  return {y, mean, reciprocal};
}

// Standardises each group of channels over its channels and all positions. Scale and bias have one
// entry per group before opset 21, and one per channel from opset 21 on.
Values group_normalization(Node& n) {
  Value x = n.input(0);
  int64_t groups = n.integer("num_groups"), rank = n.rank(x);
  if (n.has_failed()) return Value();
  if (rank < 2 || groups < 1)
    return n.fail("the input must have rank 2 or more and num_groups be at least 1, but they are " +
                  text_of(n.type(x)) + " and " + llvm::Twine(groups));
  Dims shape(n.shape(x));
  DimExpr size = floordiv(shape[1], groups);
  if (size * DimExpr(groups) != shape[1] && shape[1].is_constant())
    return n.fail(shape[1].str() + " channels are not a multiple of num_groups " +
                  llvm::Twine(groups));
  Dims split = {shape[0], DimExpr(groups), size,
                element_count(llvm::ArrayRef(shape).drop_front(2))};
  // stash_type is the element type in which ONNX computes mean and variance; 1 denotes f32.
  bool is_wide = n.integer("stash_type", 1) == 1 && n.dtype(x) != DType::kF64;
  Formula grouped = Formula(n, x).reshape(split).as(is_wide ? DType::kF32 : n.dtype(x));
  Formula y = Formula(n, standardise(n, grouped, {2, 3}, n.number("epsilon", 1e-5f)));
  bool by_group = n.opset() < 21;
  Dims factors = {DimExpr(1), DimExpr(groups), by_group ? DimExpr(1) : size, DimExpr(1)};
  auto factor = [&](size_t input) {
    return Formula(n, n.input(input)).reshape(factors).as(y.dtype());
  };
  return (y * factor(1) + factor(2)).as(n.dtype(x)).reshape(shape);
}

// The element type that stash_type selects for the first stage of a normalisation. 16-bit floats
// are computed in f32.
DType stash_type(Node& n) {
  const int64_t type = n.integer("stash_type", onnx::TensorProto::FLOAT);
  if (type != onnx::TensorProto::FLOAT && type != onnx::TensorProto::DOUBLE &&
      type != onnx::TensorProto::FLOAT16 && type != onnx::TensorProto::BFLOAT16)
    n.fail("stash_type is " + llvm::Twine(type) + ", expected 1, 10, 11 or 16");
  return type == onnx::TensorProto::DOUBLE ? DType::kF64 : DType::kF32;
}

// x / sqrt(mean of squares + epsilon), in the type of x, times the scale, in that of the scale.
Values rms_normalization(Node& n) {
  Value input = n.input(0);
  const int64_t axis = n.axis(n.integer("axis", -1), n.rank(input));
  Formula x = Formula(n, input).as(stash_type(n)), scale(n, n.input(1));
  Formula mean(n, n.reduce_mean(x * x, axes_from(axis, x.rank())));
  Formula y = x / sqrt(mean + n.number("epsilon", 1e-5f));
  return y.as(n.dtype(input)).as(scale.dtype()) * scale;
}

Values mean_variance_normalization(Node& n) {
  Value x = n.input(0);
  Ints axes = n.axes(n.integers("axes", {0, 2, 3}), n.rank(x));
  Value mean = n.reduce_mean(x, axes);
  Value squares = n.reduce_mean(n.emit<MulOp>({x, x}), axes);
  Value variance = n.emit<SubOp>({squares, n.emit<MulOp>({mean, mean})});
  // The op's definition adds 1e-9 to the deviation, not to the variance.
  Value deviation = add_scalar(n, n.emit<SqrtOp>({variance}), 1e-9);
  return n.emit<DivOp>({n.emit<SubOp>({x, mean}), deviation});
}

Values lp_normalization(Node& n) {
  Value x = n.input(0);
  Ints axes = {n.axis(n.integer("axis", -1), n.rank(x))};
  const int64_t p = n.integer("p", 2);
  if (p != 1 && p != 2) return n.fail("p is " + llvm::Twine(p) + ", expected 1 or 2");
  const bool is_sum = p == 1;
  Value norm = is_sum ? n.reduce_sum(n.emit<AbsOp>({x}), axes)
                      : n.emit<SqrtOp>({n.reduce_sum(n.emit<MulOp>({x, x}), axes)});
  // A vector of zeros is unchanged, as in the reference of ONNX.
  norm = n.emit<SelectOp>({n.emit<EqualOp>({norm, n.scalar(0, x)}), n.scalar(1, x), norm});
  return n.emit<DivOp>({x, norm});
}

// x / (bias + alpha / size * sum of squares over `size` neighbouring channels) ^ beta. Average
// pooling over the channels computes sum / size, with x reshaped to [n, 1, c, rest].
Values local_response_normalization(Node& n) {
  Value x = n.input(0);
  int64_t size = n.integer("size");
  if (n.rank(x) < 2 || size < 1 || size > (1 << 20))
    return n.fail("the input must have rank 2 or more and size be 1 to 1048576, but they are " +
                  text_of(n.type(x)) + " and " + llvm::Twine(size));
  Dims shape(n.shape(x));
  Dims flat = {shape[0], DimExpr(1), shape[1],
               element_count(llvm::ArrayRef<DimExpr>(shape).drop_front(2))};
  Value squares = n.reshape(n.emit<MulOp>({x, x}), flat);
  int64_t before = (size - 1) / 2, after = size - 1 - before;
  Value mean = n.emit<AveragePoolOp>(
      {squares}, {n.attr("kernel", Ints{size, 1}), n.attr("strides", Ints{1, 1}),
                  n.attr("pads", Ints{before, 0, after, 0}), n.attr("dilations", Ints{1, 1}),
                  n.attr("ceil_mode", false), n.attr("count_pads", true)});
  Value scaled = n.emit<MulOp>({n.reshape(mean, shape), n.scalar(n.number("alpha", 1e-4f), x)});
  Value base = add_scalar(n, scaled, n.number("bias", 1));
  return n.emit<DivOp>({x, n.emit<PowOp>({base, n.scalar(n.number("beta", 0.75f), x)})});
}

}  // namespace

const OpRows kNormalisationOps = {
    {"BatchNormalization", 1, batch_normalization},
    {"GroupNormalization", 18, group_normalization,
     OpSignature{"X scale bias", "epsilon num_groups"}},
    {"GroupNormalization", 21, group_normalization,
     OpSignature{"X scale bias", "epsilon num_groups stash_type"}},
    {"InstanceNormalization", 1, instance_normalization},
    {"LRN", 1, local_response_normalization},
    {"LayerNormalization", 17, layer_normalization},
    {"LpNormalization", 1, lp_normalization},
    {"MeanVarianceNormalization", 9, mean_variance_normalization},
    {"RMSNormalization", 23, rms_normalization, OpSignature{"X scale", "axis epsilon stash_type"}},
};

}  // namespace scopevm::compiler::frontend
