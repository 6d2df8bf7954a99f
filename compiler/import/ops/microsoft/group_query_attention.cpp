// com.microsoft.GroupQueryAttention, as a front end of attention().
//
// Sequences have different lengths. Sequence b has lengths[b] = seqlens_k[b] + 1 keys, of which the
// last ones are new. In the first call, all keys are new. In later calls, the number of new keys is
// the number of rows.
#include "compiler/graph/type_rule.h"
#include "compiler/import/ops/attention/attention.h"
#include "compiler/import/ops/microsoft/checks.h"
#include "compiler/import/ops/microsoft/rotary_embedding.h"
#include "compiler/import/ops/op_table.h"

namespace scopevm::compiler::frontend {
namespace {

using namespace graph;  // NOLINT: formulas read better without the prefix

class GroupQueryAttention {
 public:
  explicit GroupQueryAttention(Node& n) : n_(n) {}

  Values build() {
    if (!read_attributes() || !read_projections() || !read_lengths()) return Value();
    if (n_.flag("do_rotary", false)) rotate();
    Attention a;
    a.queries = n_.transpose(query_, {0, 2, 1, 3});
    a.keys = with_past(key_, 3, "past_key");
    a.values = with_past(value_, 4, "past_value");
    if (n_.has_failed()) return Value();
    if (n_.number("scale", 0) != 0) a.scale = n_.number("scale", 0);
    a.softcap = n_.number("softcap", 0);
    a.offsets = past_;
    if (n_.flag("causal", true))
      a.right = 0;
    else
      a.lengths = lengths_;
    // A window contains the row's own key.
    const int64_t window = n_.integer("local_window_size", -1);
    if (window > 0) a.left = window - 1;
    a.has_zero_sink = n_.flag("smooth_softmax", false);
    a.sinks = shaped_input(n_, 11, "head_sink", {heads_});
    if (n_.has_input(10)) a.mask = n_.input(10);
    return {merge_heads(n_, attention(n_, a).result), a.keys, a.values};
  }

 private:
  bool read_attributes() {
    constexpr int64_t kMost = int64_t{1} << 20;
    heads_ = required_within(n_, "num_heads", 1, kMost);
    kv_heads_ = required_within(n_, "kv_num_heads", 1, kMost);
    if (n_.integer("qk_output", 0) != 0) n_.unsupported("qk_output is not supported");
    if (n_.flag("sliding_window_cache", false))
      n_.unsupported("sliding_window_cache is not supported");
    for (const char* name : {"k_quant_type", "v_quant_type"})
      if (n_.text(name, "NONE") != "NONE")
        n_.unsupported(llvm::Twine(name) + " is not NONE; quantised caches are not supported");
    for (size_t i = 12; i < 16; ++i)
      if (n_.has_input(i)) n_.unsupported("input " + llvm::Twine(i) + " is not supported");
    return !n_.has_failed();
  }

  // The heads of x: [batch, rows, heads * size], as [batch, rows, heads, size].
  Value split(Value x, int64_t heads, llvm::StringRef what) {
    return shaped_heads(n_, x, heads, size_, what);
  }

  static Value shaped_heads(Node& n, Value x, int64_t heads, DimExpr size, llvm::StringRef what) {
    if (n.has_failed()) return {};
    const DimExpr batch = n.dim(x, 0), rows = n.dim(x, 1);
    x = shaped(n, x, what, {batch, rows, DimExpr(heads) * size});
    return n.reshape(x, {batch, rows, heads, size});
  }

  bool read_projections() {
    Value query = n_.input(0), key = n_.input_or(1, Value()), value = n_.input_or(2, Value());
    if (!check_rank(n_, query, "query", 3, 3)) return false;
    batch_ = n_.dim(query, 0);
    rows_ = n_.dim(query, 1);
    if (!key != !value) return n_.fail("key and value are expected together"), false;
    if (key) {
      if (!check_rank(n_, key, "key", 3, 3) || !check_rank(n_, value, "value", 3, 3)) return false;
      size_ = floordiv(n_.dim(query, 2), heads_);
      query_ = split(query, heads_, "query");
      key_ = split(shaped(n_, key, "key", {batch_, rows_, n_.dim(key, 2)}), kv_heads_, "key");
      value_ =
          split(shaped(n_, value, "value", {batch_, rows_, n_.dim(value, 2)}), kv_heads_, "value");
      return !n_.has_failed();
    }
    const int64_t all = heads_ + 2 * kv_heads_;
    size_ = floordiv(n_.dim(query, 2), all);
    Value packed = split(query, all, "query");
    auto part = [&](int64_t start, int64_t count) {
      return n_.has_failed()
                 ? Value()
                 : n_.slice(packed, {DimExpr(0), DimExpr(0), DimExpr(start), DimExpr(0)},
                            {batch_, rows_, DimExpr(count), size_});
    };
    query_ = part(0, heads_);
    key_ = part(heads_, kv_heads_);
    value_ = part(heads_ + kv_heads_, kv_heads_);
    return !n_.has_failed();
  }

  bool read_lengths() {
    Value last = n_.input(5), total = n_.input(6);
    if (!check_dtype(n_, last, "seqlens_k", {DType::kI32}) ||
        !check_dtype(n_, total, "total_sequence_length", {DType::kI32}))
      return false;
    if (n_.rank(last) == 2) last = n_.reshape(last, {n_.dim(last, 0) * n_.dim(last, 1)});
    lengths_ = Formula(n_, shaped(n_, last, "seqlens_k", {batch_})).as(DType::kI64) + 1.0;
    const Dims dims = n_.dims_of(n_.rank(total) > 1 ? n_.reshape(total, {DimExpr(1)}) : total,
                                 "total_sequence_length");
    if (dims.size() != 1 && !n_.has_failed())
      n_.fail("total_sequence_length is " + text_of(n_.type(total)) + ", expected one element");
    if (n_.has_failed()) return false;
    total_ = dims[0];
    Formula rows = number(n_, rows_, DType::kI64), all = number(n_, total_, DType::kI64);
    Formula earlier = Formula(n_, lengths_) - rows;
    past_ = select(rows == all, earlier.scalar(0), earlier);
    // In later calls, the sequences are at least as long as the new keys.
    Formula least(
        n_, n_.emit<ReduceMinOp>({past_}, {n_.attr("axes", Ints{0}), n_.attr("keep_dims", false)}));
    n_.require(least.scalar(0) <= least,
               "an element of seqlens_k is less than the number of new keys - 1");
    return !n_.has_failed();
  }

  void rotate() {
    Value cosines = n_.input(7), sines = n_.input(8);
    if (!check_rank(n_, cosines, "cos_cache", 2, 2)) return;
    const DimExpr limit = n_.dim(cosines, 0), half = n_.dim(cosines, 1);
    sines = shaped(n_, sines, "sin_cache", {limit, half});
    n_.require_at_least(size_, half * DimExpr(2),
                        "the heads have {0} channels, expected at least the {1} that are rotated");
    Value positions;
    if (n_.has_input(9)) {
      if (!check_dtype(n_, n_.input(9), "position_ids", {DType::kI64})) return;
      positions = shaped(n_, n_.input(9), "position_ids", {batch_, rows_});
    } else {
      positions = Formula(n_, past_).unsqueeze({1}) + iota(n_, rows_, DType::kI64);
    }
    const Rotation rotation =
        rotation_at(n_, cosines, sines, positions, n_.flag("rotary_interleaved", false));
    query_ = rotated(n_, query_, rotation);
    key_ = rotated(n_, key_, rotation);
  }

  // The new keys or values x: [batch, rows, heads, size], after those of the past at input `i`, as
  // [batch, heads, keys, size]. The sequences start at key 0, and zeros follow them.
  Value with_past(Value x, size_t i, llvm::StringRef what) {
    if (n_.has_failed()) return {};
    DimExpr keys = total_, capacity = 0;
    llvm::SmallVector<Value> parts;
    if (Value past = n_.input_or(i, Value())) {
      if (!check_rank(n_, past, what, 4, 4)) return {};
      capacity = n_.dim(past, 2);
      past = shaped(n_, past, what, {batch_, kv_heads_, capacity, size_});
      parts.push_back(n_.transpose(past, {0, 2, 1, 3}));
      keys = max(total_, capacity);
    }
    parts.push_back(x);
    if (n_.has_failed()) return {};
    Value all = n_.concat(parts, 1);
    // Key j is key j of the past, or new key j - past.
    Formula key = iota(n_, keys, DType::kI64).reshape({DimExpr(1), keys});
    Formula past = Formula(n_, past_).unsqueeze({1});
    Formula after = key - past;
    Formula is_new = past <= key, is_used = after < number(n_, rows_, DType::kI64);
    Formula at = select(is_new, after + number(n_, capacity, DType::kI64), key);
    at = select(is_used, at, at.scalar(0));
    at = at.expand({batch_, keys}).unsqueeze({2});
    Formula chosen(n_, n_.emit<GatherNdOp>({all, at}, {n_.attr("batch_dims", int64_t{1})}));
    chosen = select(is_used.expand({batch_, keys}).unsqueeze({2, 3}), chosen, chosen.scalar(0));
    return chosen.transpose({0, 2, 1, 3});
  }

  Node& n_;
  int64_t heads_ = 1, kv_heads_ = 1;
  DimExpr batch_ = 1, rows_ = 1, size_ = 1, total_ = 1;
  Value query_, key_, value_;  // [batch, rows, heads, size]
  Value lengths_, past_;       // i64 [batch]: the numbers of all keys and of earlier ones
};

Values group_query_attention(Node& n) { return GroupQueryAttention(n).build(); }

}  // namespace

const OpRows kGroupQueryAttentionOps = {
    {"GroupQueryAttention", 1, group_query_attention,
     OpSignature{"query key? value? past_key? past_value? seqlens_k total_sequence_length "
                 "cos_cache? sin_cache? position_ids? attention_bias? head_sink? k_scale? v_scale? "
                 "q_norm_weight? k_norm_weight?",
                 "causal do_rotary k_quant_type kv_cache_bit_width kv_num_heads local_window_size "
                 "num_heads qk_norm_epsilon qk_output rotary_interleaved scale "
                 "sliding_window_cache smooth_softmax softcap v_quant_type"}},
};

}  // namespace scopevm::compiler::frontend
