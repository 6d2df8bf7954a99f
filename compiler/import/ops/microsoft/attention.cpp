// com.microsoft Attention, QAttention and MultiHeadAttention, as front ends of attention().
#include "compiler/import/ops/attention/attention.h"

#include "compiler/graph/type_rule.h"
#include "compiler/import/node/checks.h"
#include "compiler/import/ops/contraction/quantised_contraction.h"
#include "compiler/import/ops/elementwise/quantised.h"
#include "compiler/import/ops/op_table.h"

namespace scopevm::compiler::frontend {
namespace {

using namespace graph;  // NOLINT: formulas read better without the prefix

// The sizes of an attention: `keys` includes the keys of the past.
struct AttentionDims {
  DimExpr batch, rows, keys;
};

// --- Masks. -------------------------------------------------------------------------------------

// Numbers that are added to the scores: 0 where `allowed`, else the attribute mask_filter_value.
Value fill_of(Node& n, const Formula& allowed) {
  if (n.has_failed()) return {};
  Formula zero(n, n.scalar(0, DType::kF32));
  return select(allowed, zero, n.number("mask_filter_value", -10000.0f));
}

// The mask of keys: [batch], the number of keys; [2 * batch], also the first key, after these
// numbers; 0 or 1 for each key, [batch, keys] or [batch, rows, keys]. The result broadcasts to
// [batch, heads, rows, keys].
Value padding_mask(Node& n, Value mask, const AttentionDims& dims) {
  if (!check_dtype(n, mask, "the mask", {DType::kI32}) || !check_rank(n, mask, "the mask", 1, 3))
    return {};
  if (n.rank(mask) == 1) {
    Formula key = iota(n, dims.keys, DType::kI32);
    const Dims along = {dims.batch, 1, 1, 1};
    if (n.dim(mask, 0) != dims.batch * DimExpr(2))
      return fill_of(n, key < Formula(n, shaped(n, mask, "the mask", {dims.batch})).reshape(along));
    Value ends = n.slice(mask, {DimExpr(0)}, {dims.batch});
    Value starts = n.slice(mask, {dims.batch}, {dims.batch});
    Formula first(n, n.reshape(starts, along)), end(n, n.reshape(ends, along));
    return fill_of(n, (key < end) & (first <= key));
  }
  const bool has_rows = n.rank(mask) == 3;
  mask = has_rows ? shaped(n, mask, "the mask", {dims.batch, dims.rows, dims.keys})
                  : shaped(n, mask, "the mask", {dims.batch, dims.keys});
  Formula one = Formula(n, n.unsqueeze(mask, has_rows ? Ints{1} : Ints{1, 2}));
  return fill_of(n, one > 0.0);
}

Value sum_of(Node& n, Value a, Value b) {
  if (!a || !b) return a ? a : b;
  return n.emit<AddOp>({a, b});
}

// Sets what the attributes and masks of the three ops have in common. `past` is the number of
// earlier keys.
void set_masks(Node& n, Attention& a, const AttentionDims& dims, DimExpr past, size_t padding,
               size_t bias) {
  if (n.has_attribute("scale") && n.number("scale", 0) != 0) a.scale = n.number("scale", 0);
  if (n.has_input(padding)) a.mask = padding_mask(n, n.input(padding), dims);
  if (n.has_input(bias) && !n.has_failed()) {
    Value added = n.input(bias);
    if (!check_rank(n, added, "attention_bias", 4, 4)) return;
    a.mask = sum_of(n, a.mask, added);
  }
  if (n.flag("unidirectional", false)) {
    a.right = 0;
    a.offset = past;
  }
}

// --- Attention and QAttention. ------------------------------------------------------------------

// Elements [start, start + size) of the last axis.
Value columns_of(Node& n, Value x, DimExpr start, DimExpr size) {
  if (n.has_failed()) return {};
  Dims starts(static_cast<size_t>(n.rank(x)), DimExpr(0)), sizes(n.shape(x));
  starts.back() = start;
  sizes.back() = size;
  return n.slice(x, starts, sizes);
}

// Element `index` of the first axis.
Value entry(Node& n, Value x, int64_t index) { return Formula(n, x).element_at(0, index); }

struct ProjectionInputs {
  size_t mask, past, bias;  // indices of inputs
};

// The attention of projected queries, keys and values: [batch, rows, the three side by side].
Values packed_attention(Node& n, Value packed, const ProjectionInputs& inputs) {
  const int64_t heads = required_within(n, "num_heads", 1, int64_t{1} << 20);
  if (n.flag("do_rotary", false)) n.unsupported("do_rotary is not supported");
  if (n.flag("past_present_share_buffer", false))
    n.unsupported("past_present_share_buffer is not supported");
  if (n.has_failed()) return Value();
  const DimExpr width = n.dim(packed, 2), third = floordiv(width, 3);
  Dims sizes = {third, third, third};
  if (const Ints given = n.integers("qkv_hidden_sizes"); !given.empty()) {
    if (given.size() != 3 || llvm::any_of(given, [](int64_t size) { return size < 1; }))
      return n.fail("qkv_hidden_sizes must be three positive numbers");
    sizes = {given[0], given[1], given[2]};
  }
  n.require_equal(sizes[0] + sizes[1] + sizes[2], width,
                  "the projections have {0} columns, but the weights {1}");
  auto part = [&](DimExpr start, DimExpr size) {
    return split_heads(n, columns_of(n, packed, start, size), heads, "the projections");
  };
  Attention a;
  a.queries = part(0, sizes[0]);
  a.keys = part(sizes[0], sizes[1]);
  a.values = part(sizes[0] + sizes[1], sizes[2]);
  if (n.has_failed()) return Value();
  AttentionDims dims{n.dim(packed, 0), n.dim(packed, 1), n.dim(packed, 1)};
  DimExpr past_keys = 0;
  if (Value past = n.input_or(inputs.past, Value())) {
    if (!check_rank(n, past, "past", 5, 5)) return Value();
    past_keys = n.dim(past, 3);
    const DimExpr size = n.dim(a.keys, 3);
    past = shaped(n, past, "past", {2, dims.batch, heads, past_keys, size});
    if (n.has_failed()) return Value();
    a.keys = n.concat({entry(n, past, 0), a.keys}, 2);
    a.values = n.concat({entry(n, past, 1), a.values}, 2);
    dims.keys = past_keys + dims.rows;
  }
  set_masks(n, a, dims, past_keys, inputs.mask, inputs.bias);
  Value y = merge_heads(n, attention(n, a).result);
  if (!n.wants_output(1) || n.has_failed()) return y;
  return {y, n.concat({n.unsqueeze(a.keys, {0}), n.unsqueeze(a.values, {0})}, 0)};
}

Values packed_weights_attention(Node& n) {
  Value x = n.input(0), weights = n.input(1);
  if (!check_rank(n, x, "the input", 3, 3) || !check_rank(n, weights, "weights", 2, 2))
    return Value();
  if (n.has_input(6)) n.unsupported("past_sequence_length is not supported");
  Value packed = n.emit<MatMulOp>({x, weights});
  if (Value bias = shaped_input(n, 2, "bias", {n.dim(weights, 1)}))
    packed = n.emit<AddOp>({packed, bias});
  return packed_attention(n, packed, {.mask = 3, .past = 4, .bias = 5});
}

Values quantised_attention(Node& n) {
  Value x = byte_input(n, 0), weights = byte_input(n, 1), scale = n.input(3), more = n.input(4);
  if (!check_rank(n, x, "the input", 3, 3) || !check_rank(n, weights, "weight", 2, 2) ||
      !check_dtype(n, scale, "input_scale", {DType::kF32}) ||
      !check_dtype(n, more, "weight_scale", {DType::kF32}))
    return Value();
  Value bias = shaped(n, n.input(2), "bias", {n.dim(weights, 1)});
  Value packed =
      byte_product(n, x, zero_input(n, 6, x), weights, zero_input(n, 7, weights), [&](Value sums) {
        Value factor = n.emit<MulOp>({as_scalar(n, scale), as_scalar(n, more)});
        Value y = n.emit<MulOp>({n.cast(sums, DType::kF32), factor});
        return n.emit<AddOp>({y, bias});
      });
  constexpr size_t kNoInput = 100;
  return packed_attention(n, packed, {.mask = 5, .past = 8, .bias = kNoInput});
}

// --- MultiHeadAttention. ------------------------------------------------------------------------

// x: [batch, length, heads * size] plus a part of the bias, as [batch, heads, length, size].
Value biased_heads(Node& n, Value x, int64_t heads, Value bias, DimExpr start,
                   llvm::StringRef what) {
  if (!check_rank(n, x, what, 3, 3)) return {};
  if (bias) x = n.emit<AddOp>({x, columns_of(n, bias, start, n.dim(x, 2))});
  return split_heads(n, x, heads, what);
}

// Part `index` of packed projections [batch, length, heads, parts, size], as [batch, length, heads
// * size].
Value unpacked(Node& n, Value x, int64_t index) {
  Formula part = Formula(n, x).element_at(3, index);
  if (n.has_failed()) return {};
  return part.reshape({n.dim(part, 0), n.dim(part, 1), n.dim(part, 2) * n.dim(part, 3)});
}

// Sets queries, keys and values from inputs 0 to 3.
void read_projections(Node& n, Attention& a, int64_t heads) {
  Value query = n.input(0), key = n.input_or(1, Value()), value = n.input_or(2, Value());
  Value bias = n.input_or(3, Value());
  if (n.has_failed()) return;
  if (n.rank(query) == 5 && !key) {
    if (!may_be_equal(n.dim(query, 3), 3))
      n.fail("query is " + text_of(n.type(query)) + ", expected dim 3 to be 3");
    n.require_equal(n.dim(query, 3), 3, "dim 3 of query is {0}, expected {1}");
    key = unpacked(n, query, 1);
    value = unpacked(n, query, 2);
    query = unpacked(n, query, 0);
  } else if (key && n.rank(key) == 5) {
    if (!may_be_equal(n.dim(key, 3), 2))
      n.fail("key is " + text_of(n.type(key)) + ", expected dim 3 to be 2");
    n.require_equal(n.dim(key, 3), 2, "dim 3 of key is {0}, expected {1}");
    value = unpacked(n, key, 1);
    key = unpacked(n, key, 0);
  }
  if (!key || !value) {
    n.fail("input 1, key, or input 2, value, is missing");
    return;
  }
  if (!check_rank(n, query, "query", 3, 3)) return;
  const DimExpr width = n.dim(query, 2);
  a.queries = biased_heads(n, query, heads, bias, 0, "query");
  if (n.rank(key) == 4) {
    a.keys = key;
    a.values = value;
    return;
  }
  a.keys = biased_heads(n, key, heads, bias, width, "key");
  a.values = biased_heads(n, value, heads, bias, width * DimExpr(2), "value");
}

Values multi_head_attention(Node& n) {
  const int64_t heads = required_within(n, "num_heads", 1, int64_t{1} << 20);
  if (n.has_input(8)) n.unsupported("past_sequence_length is not supported");
  if (n.has_input(9)) n.unsupported("cache_indirection is not supported");
  Attention a;
  read_projections(n, a, heads);
  if (n.has_failed() || !check_rank(n, a.keys, "key", 4, 4) ||
      !check_rank(n, a.values, "value", 4, 4))
    return Value();
  DimExpr past = 0;
  if (n.has_input(6) != n.has_input(7))
    return n.fail("past_key and past_value are expected together");
  if (n.has_input(6)) {
    if (!check_rank(n, n.input(6), "past_key", 4, 4)) return Value();
    past = n.dim(n.input(6), 2);
    auto joined = [&](size_t input, const char* what, Value x) {
      const Dims dims = {n.dim(x, 0), heads, past, n.dim(x, 3)};
      Value earlier = shaped(n, n.input(input), what, dims);
      return n.has_failed() ? Value() : n.concat({earlier, x}, 2);
    };
    a.keys = joined(6, "past_key", a.keys);
    a.values = joined(7, "past_value", a.values);
  }
  if (n.has_failed()) return Value();
  const AttentionDims dims{n.dim(a.queries, 0), n.dim(a.queries, 2), n.dim(a.keys, 2)};
  set_masks(n, a, dims, past, 4, 5);
  const bool wants_scores = n.wants_output(3);
  AttentionResult result =
      attention(n, a, wants_scores ? std::optional(ScoreStage::kMasked) : std::nullopt);
  return {merge_heads(n, result.result), a.keys, a.values, result.scores};
}

}  // namespace

const OpRows kMicrosoftAttentionOps = {
    {"Attention", 1, packed_weights_attention,
     OpSignature{"input weights bias? mask_index? past? attention_bias? past_sequence_length?",
                 "do_rotary mask_filter_value num_heads past_present_share_buffer qkv_hidden_sizes "
                 "rotary_embedding_dim scale unidirectional"}},
    {"MultiHeadAttention", 1, multi_head_attention,
     OpSignature{"query key? value? bias? key_padding_mask? attention_bias? past_key? past_value? "
                 "past_sequence_length? cache_indirection?",
                 "mask_filter_value num_heads scale unidirectional"}},
    {"QAttention", 1, quantised_attention,
     OpSignature{"input weight bias input_scale weight_scale mask_index? input_zero_point? "
                 "weight_zero_point? past?",
                 "do_rotary mask_filter_value num_heads past_present_share_buffer scale "
                 "unidirectional"}},
};

}  // namespace scopevm::compiler::frontend
