// com.microsoft normalisations. Most of them first add a second input, the skip connection.
#include "compiler/graph/type_rule.h"
#include "compiler/import/node/checks.h"
#include "compiler/import/ops/op_table.h"
#include "runtime/quoted.h"

namespace scopevm::compiler::frontend {
namespace {

using namespace graph;  // NOLINT: formulas read better without the prefix

constexpr float kSkipEpsilon = 1e-12f;  // the default of ops that add a skip connection

struct Standardised {
  Formula y, mean, reciprocal;  // reciprocal: 1 / deviation
};

Formula reciprocal_root(const Formula& variance, float epsilon) {
  return sqrt(variance + epsilon).unary<ReciprocalOp>();
}

// x / sqrt(mean of squares + epsilon) over the last axes, from `axis` on, in f32 or f64.
Standardised rms_norm(Node& n, const Formula& x, int64_t axis, float epsilon) {
  Ints axes;
  for (int64_t i = axis; i < x.rank(); ++i) axes.push_back(i);
  Formula squares(n, n.reduce_mean(x * x, axes));
  Formula reciprocal = reciprocal_root(squares, epsilon);
  return {x * reciprocal, {n, Value()}, reciprocal};
}

// As rms_norm(), but of the differences from the mean.
Standardised layer_norm(Node& n, const Formula& x, const Ints& axes, float epsilon) {
  Formula mean(n, n.reduce_mean(x, axes)), centred = x - mean;
  Formula reciprocal = reciprocal_root({n, n.reduce_mean(centred * centred, axes)}, epsilon);
  return {centred * reciprocal, mean, reciprocal};
}

DType wide(DType dtype) { return dtype == DType::kF64 ? dtype : DType::kF32; }

Values simplified_layer_normalization(Node& n) {
  Formula x(n, n.input(0)), scale(n, n.input(1));
  const int64_t axis = n.axis(n.integer("axis", -1), x.rank());
  if (n.has_failed() ||
      !check_dtype(n, x, "X", {DType::kF16, DType::kBF16, DType::kF32, DType::kF64}))
    return Value();
  Standardised s = rms_norm(n, x.as(wide(x.dtype())), axis, n.number("epsilon", 1e-5f));
  return {s.y.as(scale.dtype()) * scale, s.reciprocal};
}

// RMS normalisation of the last axis, times an activation of the gate.
Values gated_rms_norm(Node& n) {
  const Formula x(n, n.input(0));
  const std::string activation = n.text("activation", "silu");
  if (activation != "silu" && activation != "swish" && activation != "sigmoid")
    return n.fail("activation is " + runtime::quoted(activation) +
                  ", expected silu, swish or sigmoid");
  if (!check_rank(n, x, "X", 1, 8) ||
      !check_dtype(n, x, "X", {DType::kF16, DType::kBF16, DType::kF32}))
    return Value();
  const Formula scale(n, shaped(n, n.input(1), "scale", {n.dim(x, x.rank() - 1)}));
  const Formula gate = Formula(n, shaped(n, n.input(2), "gate", Dims(x.shape()))).as(DType::kF32);
  if (n.has_failed()) return Value();
  const Formula y = rms_norm(n, x.as(DType::kF32), x.rank() - 1, n.number("epsilon", 1e-5f)).y;
  const Formula open = gate.unary<SigmoidOp>();
  return (y * scale.as(DType::kF32) * (activation == "sigmoid" ? open : gate * open)).as(x.dtype());
}

// Input 0 plus the skip connection, input 1, and the bias at input `bias`. The skip connection can
// lack the batch, or have a batch of 1.
Formula skip_sum(Node& n, size_t bias) {
  Formula x(n, n.input(0)), skip(n, n.input(1));
  if (!check_rank(n, x, "the input", 2, 3) ||
      !check_dtype(n, x, "the input", {DType::kF16, DType::kBF16, DType::kF32, DType::kF64}) ||
      !check_rank(n, skip, "skip", x.rank() - 1, x.rank()))
    return {n, Value()};
  Formula sum = x + skip;
  if (Value more = shaped_input(n, bias, "the bias", {n.dim(x, x.rank() - 1)}))
    sum = sum + Formula(n, more);
  return {n, shaped(n, sum, "the sum", Dims(x.shape()))};
}

Values skip_layer_normalization(Node& n) {
  Formula sum = skip_sum(n, 4);
  if (n.has_failed()) return Value();
  const DType dtype = sum.dtype();
  const Dims width = {n.dim(sum, sum.rank() - 1)};
  Value gamma = shaped(n, n.input(2), "gamma", width), beta = shaped_input(n, 3, "beta", width);
  const float epsilon = n.number("epsilon", kSkipEpsilon);
  const int64_t axis = sum.rank() - 1;
  if (!n.wants_output(1) && !n.wants_output(2)) {
    llvm::SmallVector<Value> operands = {sum, gamma};
    if (beta) operands.push_back(beta);
    Value y = n.emit<LayerNormOp>(operands, {n.attr("axis", axis), n.attr("epsilon", epsilon)});
    return {y, Value(), Value(), sum};
  }
  Standardised s = layer_norm(n, sum.as(wide(dtype)), {axis}, epsilon);
  Formula y = s.y.as(dtype) * Formula(n, gamma);
  if (beta) y = y + Formula(n, beta);
  return {y, s.mean, s.reciprocal, sum};
}

Values skip_simplified_layer_normalization(Node& n) {
  Formula sum = skip_sum(n, 3);
  if (n.has_failed()) return Value();
  Formula gamma(n, shaped(n, n.input(2), "gamma", {n.dim(sum, sum.rank() - 1)}));
  Standardised s =
      rms_norm(n, sum.as(wide(sum.dtype())), sum.rank() - 1, n.number("epsilon", kSkipEpsilon));
  // Output 1, the mean, does not exist.
  return {s.y.as(sum.dtype()) * gamma, Value(), s.reciprocal, sum};
}

// --- EmbedLayerNormalization. -------------------------------------------------------------------

// The rows of a table [count, width] at the indices. The call fails if an index is out of range.
Formula rows_of(Node& n, Value table, Value indices, llvm::StringRef what) {
  if (!check_rank(n, table, what, 2, 2) ||
      !check_dtype(n, indices, "an index", {DType::kI32, DType::kI64}))
    return {n, Value()};
  Formula index = Formula(n, indices).as(DType::kI64);
  Formula end = number(n, n.dim(table, 0), DType::kI64);
  Formula is_inside = (index < end) & (index.scalar(0) <= index);
  n.require(n.emit<ReduceMinOp>({is_inside}, {n.attr("axes", first_axes(index.rank())),
                                              n.attr("keep_dims", false)}),
            ("an index of " + what + " is out of range").str());
  return Formula(n, table).gather(index, 0);
}

Values embed_layer_normalization(Node& n) {
  Value ids = n.input(0);
  if (!check_rank(n, ids, "input_ids", 2, 2)) return Value();
  const DimExpr batch = n.dim(ids, 0), length = n.dim(ids, 1);
  Formula sum = rows_of(n, n.input(2), ids, "word_embedding");
  if (n.has_failed()) return Value();
  const DimExpr width = n.dim(sum, 2);
  Value positions = n.input(3);
  if (Value at = n.input_or(8, Value())) {
    if (!check_rank(n, at, "position_ids", 2, 2)) return Value();
    at = shaped(n, at, "position_ids", {n.dim(at, 0), length});  // [batch, length] or [1, length]
    sum = sum + rows_of(n, positions, at, "position_embedding");
    sum = Formula(n, shaped(n, sum, "the sum", {batch, length, width}));
  } else {
    if (!check_rank(n, positions, "position_embedding", 2, 2)) return Value();
    n.require_at_least(
        n.dim(positions, 0), length,
        "position_embedding has {0} rows, expected at least the sequence length, {1}");
    sum = sum + Formula(n, n.slice(positions, {DimExpr(0), DimExpr(0)}, {length, width}));
  }
  if (n.has_input(1) && n.has_input(4))
    sum = sum + rows_of(n, n.input(4), shaped(n, n.input(1), "segment_ids", {batch, length}),
                        "segment_embedding");
  Value gamma = shaped(n, n.input(5), "gamma", {width});
  Value beta = shaped(n, n.input(6), "beta", {width});
  Value y = n.emit<LayerNormOp>(
      {sum, gamma, beta},
      {n.attr("axis", int64_t{2}), n.attr("epsilon", n.number("epsilon", kSkipEpsilon))});
  if (!n.wants_output(1)) return {y, Value(), sum};
  Value counts = n.expand(n.scalar(0, DType::kI32), {batch});
  if (Value mask = shaped_input(n, 7, "mask", {batch, length})) {
    if (!check_dtype(n, mask, "mask", {DType::kI32})) return Value();
    Formula is_one = Formula(n, mask) == Formula(n, n.scalar(1, mask));
    counts = n.reshape(n.reduce_sum(is_one.as(DType::kI32), {1}), {batch});
  }
  return {y, counts, sum};
}

// --- GroupNorm. ---------------------------------------------------------------------------------

// Standardises each group of channels of x: [n, positions..., c], or [n, c, positions...] if
// channels_last is 0. activation 1 is x * sigmoid(x).
Value group_norm_of(Node& n, const Formula& x) {
  if (!check_rank(n, x, "X", 4, 4)) return {};
  const int64_t groups = required_within(n, "groups", 1, int64_t{1} << 20);
  const bool is_last = n.flag("channels_last", true);
  const int64_t activation = required_within(n, "activation", 0, 1);
  const DimExpr channels = n.dim(x, is_last ? 3 : 1), size = floordiv(channels, groups);
  n.require_equal(size * DimExpr(groups), channels, "{1} channels are not a multiple of groups");
  const DimExpr positions = is_last ? n.dim(x, 1) * n.dim(x, 2) : n.dim(x, 2) * n.dim(x, 3);
  const DimExpr images = n.dim(x, 0);
  const Dims split =
      is_last ? Dims{images, positions, groups, size} : Dims{images, groups, size, positions};
  const Dims along = is_last ? Dims{groups, size} : Dims{groups, size, 1};
  auto factor = [&](size_t input, const char* what) {
    return Formula(n, shaped(n, n.input(input), what, {channels})).as(DType::kF32).reshape(along);
  };
  if (n.has_failed()) return {};
  Standardised s = layer_norm(n, x.reshape(split).as(DType::kF32),
                              is_last ? Ints{1, 3} : Ints{2, 3}, n.number("epsilon", 1e-5f));
  Formula y = s.y * factor(1, "gamma") + factor(2, "beta");
  if (activation == 1) y = y * y.unary<SigmoidOp>();
  return y.as(x.dtype()).reshape(Dims(x.shape()));
}

Values group_norm(Node& n) { return group_norm_of(n, Formula(n, n.input(0))); }

Values skip_group_norm(Node& n) {
  Formula x(n, n.input(0)), skip(n, n.input(3));
  if (!check_rank(n, x, "X", 4, 4)) return Value();
  const bool is_last = n.flag("channels_last", true);
  const DimExpr channels = n.dim(x, is_last ? 3 : 1);
  Dims dims(x.shape());
  // The skip connection can be one vector of channels for each image.
  if (skip.rank() == 2) skip = skip.unsqueeze(is_last ? Ints{1, 2} : Ints{2, 3});
  if (skip.rank() == 4 && n.dim(skip, is_last ? 1 : 2).is_constant(1)) {
    dims = {n.dim(x, 0), 1, 1, 1};
    dims[is_last ? 3 : 1] = channels;
  }
  Formula sum = x + Formula(n, shaped(n, skip, "skip", dims));
  if (Value bias = shaped_input(n, 4, "the bias", {channels}))
    sum = sum + Formula(n, is_last ? bias : n.reshape(bias, {channels, 1, 1}));
  return {group_norm_of(n, sum), sum};
}

}  // namespace

// ONNX Runtime defines these ops in the standard domain, from opset 1 on.
const OpRows kSimplifiedNormalisationOps = {
    {"SimplifiedLayerNormalization", 1, simplified_layer_normalization,
     OpSignature{"X scale", "axis epsilon stash_type"}},
};

const OpRows kMicrosoftNormalisationOps = {
    {"EmbedLayerNormalization", 1, embed_layer_normalization,
     OpSignature{
         "input_ids segment_ids? word_embedding position_embedding segment_embedding? gamma "
         "beta mask? position_ids?",
         "epsilon mask_index_type"}},
    {"GatedRMSNorm", 1, gated_rms_norm, OpSignature{"X scale gate", "activation epsilon"}},
    {"GroupNorm", 1, group_norm,
     OpSignature{"X gamma beta", "activation channels_last epsilon groups"}},
    {"SimplifiedLayerNormalization", 1, simplified_layer_normalization,
     OpSignature{"X scale", "axis epsilon stash_type"}},
    {"SkipGroupNorm", 1, skip_group_norm,
     OpSignature{"X gamma beta skip bias?", "activation channels_last epsilon groups"}},
    {"SkipLayerNormalization", 1, skip_layer_normalization,
     OpSignature{"input skip gamma beta? bias?", "epsilon"}},
    {"SkipSimplifiedLayerNormalization", 1, skip_simplified_layer_normalization,
     OpSignature{"input skip gamma bias?", "epsilon"}},
};

}  // namespace scopevm::compiler::frontend
