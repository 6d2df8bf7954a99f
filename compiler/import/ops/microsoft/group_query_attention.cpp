// com.microsoft.GroupQueryAttention, as a front end of attention().
//
// Sequences have different lengths. Sequence b has lengths[b] = seqlens_k[b] + 1 keys, of which the
// last ones are new. In the first call, all keys are new. In later calls, the number of new keys is
// the number of rows.
//
// A windowed cache (sliding_window_cache) has `capacity` keys, which can be fewer than the sequence
// has. Of `count` keys, it has the last resident(count) ones. Attention reads the keys of the cache
// and then the new ones. Causal masks and windows depend on differences of positions only, so that
// positions are counted from the first key of the cache.
//
// A cache that is a state has no padding: the new keys follow all keys of the past.
#include <limits>

#include "compiler/graph/type_rule.h"
#include "compiler/import/node/checks.h"
#include "compiler/import/ops/attention/attention.h"
#include "compiler/import/ops/microsoft/key_cache.h"
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
    query_ = normalised(query_, 14, "q_norm_weight");
    key_ = normalised(key_, 15, "k_norm_weight");
    if (n_.flag("do_rotary", false)) rotate();
    if (is_windowed_) read_window();
    Attention a;
    a.queries = n_.transpose(query_, {0, 2, 1, 3});
    const Cache keys =
        with_past(key_, {.type = "k_quant_type", .scale = 12, .past = 3}, "past_key");
    const Cache values =
        with_past(value_, {.type = "v_quant_type", .scale = 13, .past = 4}, "past_value");
    if (n_.has_failed()) return Value();
    a.keys = keys.read;
    a.values = values.read;
    if (n_.number("scale", 0) != 0) a.scale = n_.number("scale", 0);
    a.softcap = n_.number("softcap", 0);
    set_masks(a);
    const std::optional<ScoreStage> stage = score_stage();
    const AttentionResult y = attention(n_, a, stage);
    return {merge_heads(n_, y.result), keys.present, values.present,
            stage ? scores_of_keys(y.scores, *stage) : Value()};
  }

 private:
  // All are [batch, heads, keys, size].
  struct Cache {
    Value read, present;
  };

  bool read_attributes() {
    constexpr int64_t kMost = int64_t{1} << 20;
    heads_ = required_within(n_, "num_heads", 1, kMost);
    kv_heads_ = required_within(n_, "kv_num_heads", 1, kMost);
    window_ = n_.integer("local_window_size", -1);
    is_causal_ = n_.flag("causal", true);
    is_windowed_ = n_.flag("sliding_window_cache", false);
    qk_output_ = integer_within(n_, "qk_output", 0, 0, 2);
    if (is_windowed_ && (window_ < 1 || !is_causal_))
      n_.fail("sliding_window_cache requires causal attention with a local_window_size");
    if (is_windowed_ && !(n_.has_input(3) && n_.has_input(4)))
      n_.fail("sliding_window_cache requires past_key and past_value");
    if (is_windowed_ && qk_output_ != 0)
      n_.unsupported("qk_output is not supported with sliding_window_cache");
    if (n_.has_input(14) != n_.has_input(15))
      n_.fail("q_norm_weight and k_norm_weight are expected together");
    return !n_.has_failed();
  }

  void set_masks(Attention& a) {
    a.offsets = before_;
    if (is_causal_) a.right = 0;
    // The rows of a first call can be padding.
    const bool has_padding = !is_windowed_ && !n_.is_state(3) && !n_.is_state(4);
    if (!is_causal_ || has_padding) a.lengths = lengths_;
    // A window contains the row's own key.
    if (window_ > 0) a.left = window_ - 1;
    a.has_zero_sink = n_.integer("smooth_softmax", -1) == 1;  // -1, the default, is off
    a.sinks = shaped_input(n_, 11, "head_sink", {heads_});
    // The window of a padding row depends on the algorithm that ONNX Runtime chooses.
    a.limits_positions =
        has_padding && (a.softcap > 0 || a.has_zero_sink || a.sinks || score_stage().has_value());
    if (n_.has_input(10)) a.mask = is_windowed_ ? windowed_bias(n_.input(10)) : n_.input(10);
  }

  std::optional<ScoreStage> score_stage() const {
    if (qk_output_ == 0 || !n_.wants_output(3)) return std::nullopt;
    return qk_output_ == 1 ? ScoreStage::kMasked : ScoreStage::kProbabilities;
  }

  // The scores of the first `total_sequence_length` keys. Those of masked keys are 0.
  Value scores_of_keys(Value scores, ScoreStage stage) {
    if (n_.has_failed()) return {};
    const Formula x(n_, n_.slice(scores, Dims(4, DimExpr(0)), {batch_, heads_, rows_, total_}));
    if (stage != ScoreStage::kMasked) return x;
    const Formula infinite = x.scalar(-std::numeric_limits<double>::infinity());
    return select(x == infinite, x.scalar(0), x);
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
    past_ = is_windowed_ ? earlier : select(rows == all, earlier.scalar(0), earlier);
    // In later calls, the sequences are at least as long as the new keys.
    Formula least(
        n_, n_.emit<ReduceMinOp>({past_}, {n_.attr("axes", Ints{0}), n_.attr("keep_dims", false)}));
    n_.require(least.scalar(0) <= least,
               "an element of seqlens_k is less than the number of new keys - 1");
    before_ = past_;
    return !n_.has_failed();
  }

  // The RMS norm of each head of x, if its weight is an input.
  Value normalised(Value x, size_t i, llvm::StringRef what) {
    const Value weight = shaped_input(n_, i, what, {size_});
    if (!weight || n_.has_failed()) return x;
    const Formula wide = Formula(n_, x).as(DType::kF32);
    const Formula squares(n_, n_.reduce_mean(wide * wide, {3}));
    const Formula root = sqrt(squares + n_.number("qk_norm_epsilon", 1e-6f));
    return (wide * root.unary<ReciprocalOp>() * Formula(n_, weight).as(DType::kF32))
        .as(n_.dtype(x));
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

  // --- Caches. ----------------------------------------------------------------------------------

  // Counts the positions from the first key of the cache.
  void read_window() {
    if (!check_rank(n_, n_.input(3), "past_key", 4, 4)) return;
    capacity_ = n_.dim(n_.input(3), 2);
    n_.require_at_least(capacity_, window_,
                        "the cache has {0} keys, expected at least local_window_size, {1}");
    before_ = resident({n_, past_});
  }

  // Of a sequence of `count` keys, the number of those in the cache: all of them, if possible.
  // Otherwise, blocks of capacity - window + 1 keys have been removed.
  Formula resident(const Formula& count) {
    const Formula capacity = number(n_, capacity_, DType::kI64);
    const Formula block = max(capacity + static_cast<double>(1 - window_), 1);
    const Formula blocks = (max(count - capacity, 0) + (block - 1)) / block;
    return count - blocks * block;
  }

  // Keys first[b] + j of sequence b, for j < count: [batch, heads, count, ...]. A sequence has the
  // first before_[b] of the `capacity` past keys in `all`, and then the new ones, which are
  // followed by one that is zero. It is used after the last key of a sequence.
  Value elements(Value all, DimExpr capacity, DimExpr count, const Formula& first) {
    Formula element = iota(n_, count, DType::kI64).reshape({DimExpr(1), count}) + first;
    Formula before = Formula(n_, before_).unsqueeze({1});
    Formula after = element - before;
    Formula is_new = before <= element, rows = number(n_, rows_, DType::kI64);
    Formula at = select(is_new, min(after, rows) + number(n_, capacity, DType::kI64), element);
    at = at.reshape({batch_, DimExpr(1), count, DimExpr(1)})
             .expand({batch_, DimExpr(kv_heads_), count, DimExpr(1)});
    return n_.emit<GatherNdOp>({all, at}, {n_.attr("batch_dims", int64_t{2})});
  }

  // The new keys or values x: [batch, rows, heads, size], after those of the past. The sequences
  // start at key 0, and zeros follow them.
  Cache with_past(Value x, const CacheFormatSource& source, llvm::StringRef what) {
    const CacheFormat format = read_cache_format(n_, source, kv_heads_, size_);
    if (n_.has_failed()) return {};
    DimExpr capacity = 0;
    llvm::SmallVector<Value> parts;
    if (Value past = n_.input_or(source.past, Value())) {
      if (!check_rank(n_, past, what, 4, 4)) return {};
      capacity = is_windowed_ ? capacity_ : n_.dim(past, 2);
      parts.push_back(shaped(n_, past, what, {batch_, kv_heads_, capacity, format.stored_size}));
    }
    const Value added = stored(n_, format, n_.transpose(x, {0, 2, 1, 3}));
    if (n_.has_failed()) return {};
    parts.push_back(added);
    if (n_.is_state(source.past) && !is_windowed_) {
      if (source.past == 3 || !n_.is_state(3)) require_no_padding(capacity);
      const Value all = n_.concat(parts, 2);
      return {restored(n_, format, all), all};
    }
    parts.push_back(n_.expand(n_.scalar(0, added), {batch_, kv_heads_, 1, format.stored_size}));
    const Value all = n_.concat(parts, 2);
    const DimExpr keys = is_windowed_ ? capacity + rows_ : max(total_, capacity);
    const Value read = elements(all, capacity, keys, number(n_, 0, DType::kI64));
    const Value present = is_windowed_ ? elements(all, capacity, capacity, removed()) : read;
    return {restored(n_, format, read), present};
  }

  // A call fails unless all sequences have `past` keys in the cache.
  void require_no_padding(DimExpr past) {
    if (n_.has_failed()) return;
    n_.require_equal(total_, past + rows_,
                     "total_sequence_length is {0}, but the caches are states: expected {1}, the "
                     "number of past and new keys");
    const Formula is_equal =
        (Formula(n_, lengths_) == number(n_, past + rows_, DType::kI64)).as(DType::kI64);
    Formula all(n_, n_.emit<ReduceMinOp>({is_equal},
                                         {n_.attr("axes", Ints{0}), n_.attr("keep_dims", false)}));
    n_.require(all.scalar(1) <= all,
               "an element of seqlens_k is not the number of past and new keys - 1, but the caches "
               "are states");
  }

  // The number of keys that the call removes from the front of a windowed cache: i64 [batch, 1].
  Formula removed() {
    const Formula keys = Formula(n_, before_) + number(n_, rows_, DType::kI64);
    return (keys - resident(Formula(n_, lengths_))).unsqueeze({1});
  }

  // The columns of the keys in the cache and of the new ones. The columns of attention_bias are
  // those of all keys.
  Value windowed_bias(Value bias) {
    if (!check_rank(n_, bias, "attention_bias", 4, 4)) return {};
    const DimExpr keys = capacity_ + rows_, columns = n_.dim(bias, 3);
    n_.require_at_least(columns, total_, "attention_bias has {0} columns, expected at least {1}");
    Dims dims(n_.shape(bias));
    dims[0] = batch_;
    const Value first = n_.transpose(n_.expand(bias, dims), {0, 3, 1, 2});
    Formula at = iota(n_, keys, DType::kI64).reshape({DimExpr(1), keys}) +
                 (Formula(n_, past_) - Formula(n_, before_)).unsqueeze({1});
    at = min(at, number(n_, columns, DType::kI64) - 1);
    at = at.expand({batch_, keys}).unsqueeze({2});
    Formula chosen(n_, n_.emit<GatherNdOp>({first, at}, {n_.attr("batch_dims", int64_t{1})}));
    return chosen.transpose({0, 2, 3, 1});
  }

  Node& n_;
  int64_t heads_ = 1, kv_heads_ = 1, window_ = -1, qk_output_ = 0;
  bool is_causal_ = true, is_windowed_ = false;
  DimExpr batch_ = 1, rows_ = 1, size_ = 1, total_ = 1, capacity_ = 0;
  Value query_, key_, value_;  // [batch, rows, heads, size]
  // i64 [batch]: the numbers of all keys, of earlier ones, and of those in the past inputs.
  Value lengths_, past_, before_;
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
