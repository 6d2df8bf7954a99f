// The operator Attention of the standard: a front end of attention.h.
#include "compiler/graph/type_rule.h"
#include "compiler/import/ops/attention/attention.h"
#include "compiler/import/ops/op_table.h"

namespace scopevm::compiler::frontend {
namespace {

using namespace graph;  // NOLINT: formulas read better without the prefix

enum AttentionInput : uint8_t { kQ, kK, kV, kMask, kPastKey, kPastValue, kNonpadLengths };

// With inputs of rank 4, an attribute can repeat the number of heads.
void check_heads(Node& n, llvm::StringRef attribute, Value x) {
  if (!n.has_attribute(attribute) || n.has_failed()) return;
  n.require_equal(head_count(n, attribute), n.dim(x, 1),
                  (attribute + " is {0}, but the input has {1} heads").str());
}

// Queries, keys and values with rank 4.
void read_attention(Node& n, Attention& a) {
  a.queries = n.input(kQ);
  a.keys = n.input(kK);
  a.values = n.input(kV);
  if (n.has_failed()) return;
  const int64_t rank = n.rank(a.queries);
  if ((rank != 3 && rank != 4) || n.rank(a.keys) != rank || n.rank(a.values) != rank) {
    n.fail("Q, K and V must all have rank 3 or all have rank 4, but are " +
           text_of(n.type(a.queries)) + ", " + text_of(n.type(a.keys)) + " and " +
           text_of(n.type(a.values)));
    return;
  }
  if (rank == 4) {
    check_heads(n, "q_num_heads", a.queries);
    check_heads(n, "kv_num_heads", a.keys);
    return;
  }
  const int64_t heads = head_count(n, "q_num_heads"), kv_heads = head_count(n, "kv_num_heads");
  a.queries = split_heads(n, a.queries, heads, "Q");
  a.keys = split_heads(n, a.keys, kv_heads, "K");
  a.values = split_heads(n, a.values, kv_heads, "V");
}

// The keys or values of earlier calls and those of this call.
Value with_past(Node& n, size_t input, Value present) {
  const Value past = n.input(input);
  if (n.has_failed()) return {};
  if (n.rank(past) != 4)
    return n.fail("the past must have rank 4, but is " + text_of(n.type(past)));
  return n.concat({past, present}, 2);
}

// Fails unless the input has one integer per batch element.
Value lengths_of(Node& n, Value queries) {
  const Value lengths = n.input(kNonpadLengths);
  if (n.has_failed()) return {};
  if (n.dtype(lengths) != DType::kI64 || n.rank(lengths) != 1 ||
      !may_be_equal(n.dim(lengths, 0), n.dim(queries, 0)))
    return n.fail("nonpad_kv_seqlen is " + text_of(n.type(lengths)) + ", expected i64[" +
                  n.dim(queries, 0).str() + "]");
  return lengths;
}

// The rows of the queries are the last ones: of the present keys if there are past ones, else of
// the keys that are not padding.
void read_positions(Node& n, Attention& a) {
  if (n.has_input(kPastKey) != n.has_input(kPastValue)) {
    n.fail("past_key and past_value must be given together");
    return;
  }
  if (n.has_input(kPastKey)) {
    if (n.has_input(kNonpadLengths))
      n.fail("past_key and nonpad_kv_seqlen cannot be given together");
    const Value key = with_past(n, kPastKey, a.keys), value = with_past(n, kPastValue, a.values);
    if (n.has_failed()) return;
    a.offset = n.dim(n.input(kPastKey), 2);
    a.keys = key;
    a.values = value;
  } else if (n.has_input(kNonpadLengths)) {
    a.lengths = lengths_of(n, a.queries);
    if (n.has_failed()) return;
    const Value rows = n.dims_value({n.dim(a.queries, 2)}, /*is_scalar=*/true);
    a.offsets = n.emit<SubOp>({a.lengths, rows});
  }
}

// A window size: -1 for no limit.
std::optional<int64_t> window_of(Node& n, llvm::StringRef attribute) {
  const int64_t size = n.opset() >= 25 ? n.integer(attribute, -1) : -1;
  if (size < -1) n.fail(attribute + " is " + llvm::Twine(size) + ", expected at least -1");
  return size < 0 ? std::nullopt : std::optional(size);
}

void read_attributes(Node& n, Attention& a) {
  if (n.has_attribute("scale")) a.scale = n.number("scale", 1);
  a.softcap = n.number("softcap", 0);
  if (a.softcap < 0) n.fail("softcap is negative, expected at least 0");
  a.left = window_of(n, "left_window_size");
  a.right = window_of(n, "right_window_size");
  if (n.flag("is_causal", false)) a.right = 0;
  // 16-bit softmaxes are computed in f32.
  const int64_t precision = n.integer("softmax_precision", onnx::TensorProto::FLOAT);
  a.has_f64_softmax = precision == onnx::TensorProto::DOUBLE;
  if (precision != onnx::TensorProto::FLOAT && precision != onnx::TensorProto::FLOAT16 &&
      precision != onnx::TensorProto::BFLOAT16 && !a.has_f64_softmax)
    n.fail("softmax_precision is " + llvm::Twine(precision) + ", expected 1, 10, 11 or 16");
}

Values attention(Node& n) {
  Attention a;
  read_attention(n, a);
  if (n.has_failed()) return Value();
  read_positions(n, a);
  read_attributes(n, a);
  if (n.has_input(kMask)) a.mask = n.input(kMask);
  a.broadcasts_keys = n.opset() < 24;
  const int64_t mode = n.integer("qk_matmul_output_mode", 0);
  if (mode < 0 || mode > 3)
    return n.fail("qk_matmul_output_mode is " + llvm::Twine(mode) + ", expected 0 to 3");
  const auto stage =
      n.wants_output(3) ? std::optional(static_cast<ScoreStage>(mode)) : std::nullopt;
  AttentionResult y = attention(n, a, stage);
  if (n.has_failed()) return Value();
  if (n.rank(n.input(kQ)) == 3) y.result = merge_heads(n, y.result);
  return {y.result, a.keys, a.values, y.scores};
}

constexpr OpSignature kAttention23 = {
    "Q K V attn_mask? past_key? past_value?",
    "is_causal kv_num_heads q_num_heads qk_matmul_output_mode scale softcap softmax_precision"};
constexpr OpSignature kAttention24 = {"Q K V attn_mask? past_key? past_value? nonpad_kv_seqlen?",
                                      kAttention23.attributes};
constexpr OpSignature kAttention25 = {
    kAttention24.inputs,
    "is_causal kv_num_heads left_window_size q_num_heads qk_matmul_output_mode right_window_size "
    "scale softcap softmax_precision"};

}  // namespace

const OpRows kAttentionOps = {
    {"Attention", 23, attention, kAttention23},
    {"Attention", 24, attention, kAttention24},
    {"Attention", 25, attention, kAttention25},
};

}  // namespace scopevm::compiler::frontend
