// Attention as graph ops; see attention.h. Query heads that use the same key head are rows of one
// product: the queries have the shape [batch, kv_heads, group * rows, size], so that keys and
// values are not repeated. Without a mask that a kernel cannot compute, product, softmax and
// product have the form that kernels/contraction/attention fuses.
#include "compiler/import/ops/attention/attention.h"

#include <cmath>
#include <limits>

#include "compiler/graph/type_rule.h"
#include "compiler/import/node/formula.h"

namespace scopevm::compiler::frontend {
namespace {

using namespace graph;  // NOLINT: formulas read better without the prefix

constexpr double kInfiniteScore = std::numeric_limits<double>::infinity();

class AttentionBuilder {
 public:
  AttentionBuilder(Node& n, const Attention& a) : n_(n), a_(a) {}
  AttentionResult build(std::optional<ScoreStage> stage);

 private:
  bool read_dims();
  Formula scores();
  Formula probabilities(const Formula& scores);
  // The masks. Null if there is none.
  Value added_mask();
  Value allowed_keys();
  Value rows_without_keys(Value added, Value allowed);
  Formula masked(const Formula& scores, Value added, Value allowed);
  Value window(std::optional<int64_t> limit, bool is_left);
  Value grouped_mask();
  Value with_all_keys(Value mask);

  Formula of_heads(const Formula& x) {
    return x.reshape({batch_, heads_, rows_, n_.dim(x, n_.rank(x) - 1)});
  }
  Formula of_groups(const Formula& x) {
    return x.reshape({batch_, kv_heads_, group_ * rows_, n_.dim(x, n_.rank(x) - 1)});
  }
  Formula per_batch(Value x) {
    return Formula(n_, x).as(DType::kI64).reshape({batch_, DimExpr(1), DimExpr(1), DimExpr(1)});
  }
  bool is_grouped() const { return !group_.is_constant(1); }

  Node& n_;
  const Attention& a_;
  DimExpr batch_ = 1, heads_ = 1, rows_ = 1, size_ = 1, kv_heads_ = 1, keys_ = 1, group_ = 1;
  DType computed_ = DType::kF32;
};

bool AttentionBuilder::read_dims() {
  if (n_.has_failed()) return false;
  const std::pair<const char*, Value> operands[] = {
      {"the queries", a_.queries}, {"the keys", a_.keys}, {"the values", a_.values}};
  for (const auto& [what, value] : operands) {
    if (n_.rank(value) != 4 || !is_float(n_.dtype(value)))
      return n_.fail(llvm::Twine(what) + " are " + text_of(n_.type(value)) +
                     ", expected floats of rank 4"),
             false;
    if (n_.dtype(value) == DType::kF64) computed_ = DType::kF64;
  }
  batch_ = n_.dim(a_.queries, 0);
  heads_ = n_.dim(a_.queries, 1);
  rows_ = n_.dim(a_.queries, 2);
  size_ = n_.dim(a_.queries, 3);
  kv_heads_ = n_.dim(a_.keys, 1);
  keys_ = n_.dim(a_.keys, 2);
  n_.require_equal(n_.dim(a_.keys, 0), batch_, "the keys have batch size {0}, the queries {1}");
  n_.require_equal(n_.dim(a_.values, 0), batch_, "the values have batch size {0}, the queries {1}");
  n_.require_equal(n_.dim(a_.values, 1), kv_heads_, "the values have {0} heads, the keys {1}");
  n_.require_equal(n_.dim(a_.values, 2), keys_, "there are {0} values, but {1} keys");
  n_.require_at_least(kv_heads_, 1, "the keys have {0} heads, expected at least 1");
  if (n_.has_failed()) return false;
  group_ = heads_ == kv_heads_ ? DimExpr(1) : floordiv(heads_, kv_heads_);
  n_.require_equal(group_ * kv_heads_, heads_,
                   "the number of query heads, {1}, is not a multiple of that of key heads");
  return !n_.has_failed();
}

Formula AttentionBuilder::scores() {
  Formula queries = Formula(n_, a_.queries).as(computed_),
          keys = Formula(n_, a_.keys).as(computed_);
  if (is_grouped()) queries = of_groups(queries);
  Formula product(n_, n_.emit<MatMulOp>({queries, keys}, {n_.attr("transpose_b", true)}));
  if (a_.scale) return product * *a_.scale;
  if (auto size = size_.as_constant()) return product * (1 / std::sqrt(static_cast<double>(*size)));
  return product / sqrt(number(n_, size_, computed_));
}

// --- Masks. -------------------------------------------------------------------------------------

// The mask, extended to `keys` elements in the last dim.
Value AttentionBuilder::with_all_keys(Value mask) {
  if (n_.rank(mask) == 0) return mask;
  const int64_t last = n_.rank(mask) - 1;
  const DimExpr given = n_.dim(mask, last);
  if (given == keys_ || (given.is_constant(1) && a_.broadcasts_keys)) return mask;
  n_.require_at_least(keys_, given, "the mask has {1} keys, expected at most {0}");
  if (n_.has_failed()) return {};
  Dims pads(static_cast<size_t>(2 * n_.rank(mask)), DimExpr(0));
  pads.back() = keys_ - given;
  const bool is_bool = n_.dtype(mask) == DType::kBool;
  return n_.pad(mask, pads, n_.scalar(is_bool ? 0 : -kInfiniteScore, mask));
}

// The mask as a tensor that broadcasts to [batch, kv_heads, group * rows, keys]. Numbers get the
// type of the scores.
Value AttentionBuilder::grouped_mask() {
  if (!a_.mask || n_.has_failed()) return {};
  const Dims whole = {batch_, heads_, rows_, keys_};
  bool matches = n_.dtype(a_.mask) != DType::kStr && n_.rank(a_.mask) <= 4;
  for (int64_t i = 2; matches && i <= n_.rank(a_.mask); ++i) {
    const DimExpr dim = n_.dim(a_.mask, n_.rank(a_.mask) - i);
    matches = dim.is_constant(1) || may_be_equal(dim, whole[static_cast<size_t>(4 - i)]);
  }
  if (!matches)
    return n_.fail("the mask is " + text_of(n_.type(a_.mask)) +
                   ", expected bools or numbers that broadcast to " +
                   text_of(n_.type(a_.queries).withShape(whole)));
  Value mask = a_.mask;
  if (n_.dtype(mask) != DType::kBool) mask = n_.cast(mask, computed_);
  mask = with_all_keys(mask);
  if (!is_grouped() || n_.has_failed()) return mask;
  Dims dims(n_.shape(mask));
  while (dims.size() < 4) dims.insert(dims.begin(), DimExpr(1));
  const bool has_heads = !dims[1].is_constant(1), has_rows = !dims[2].is_constant(1);
  mask = n_.reshape(mask, dims);
  if (!has_heads && !has_rows) return mask;
  // A dim that is a symbol can be 1 at run time.
  if (has_heads) dims[1] = heads_;
  if (has_rows) dims[2] = rows_;
  mask = n_.expand(mask, dims);
  const DimExpr kv_heads = has_heads ? kv_heads_ : DimExpr(1);
  mask = n_.reshape(mask, {dims[0], kv_heads, has_heads ? group_ : DimExpr(1), dims[2], dims[3]});
  mask = n_.expand(mask, {dims[0], kv_heads, group_, rows_, dims[3]});
  return n_.reshape(mask, {dims[0], kv_heads, group_ * rows_, dims[3]});
}

Value AttentionBuilder::added_mask() {
  return a_.mask && n_.dtype(a_.mask) != DType::kBool ? grouped_mask() : Value();
}

// Whether key <= position + limit and key < length, or position - limit <= key if is_left.
Value AttentionBuilder::window(std::optional<int64_t> limit, bool is_left) {
  // No tensor has this many rows. Sums with greater numbers might overflow.
  constexpr int64_t kNoLimit = int64_t{1} << 40;
  if (!limit || *limit >= kNoLimit || n_.has_failed()) return {};
  Formula key = iota(n_, keys_, DType::kI64);
  Value row = iota(n_, rows_, DType::kI64);
  if (is_grouped()) row = n_.reshape(n_.expand(row, {group_, rows_}), {group_ * rows_});
  Formula position = Formula(n_, row).reshape({group_ * rows_, DimExpr(1)});
  if (!a_.offset.is_constant(0)) position = position + number(n_, a_.offset, DType::kI64);
  if (a_.offsets) position = position + per_batch(a_.offsets);
  if (a_.limits_positions) position = min(position, per_batch(a_.lengths) - 1);
  const auto distance = static_cast<double>(std::max(*limit, -kNoLimit));
  if (is_left) return position + -distance <= key;
  Formula last = position + distance;
  if (a_.lengths) last = min(last, per_batch(a_.lengths) - 1);
  return key <= last;
}

// Whether a row attends to a key, as far as the added mask does not decide it.
Value AttentionBuilder::allowed_keys() {
  Value allowed;
  const auto add = [&](Value condition) {
    if (!condition) return;
    allowed = allowed ? n_.emit<AndOp>({allowed, condition}) : condition;
  };
  const Value until_last = window(a_.right, /*is_left=*/false);
  add(until_last);
  add(window(a_.left, /*is_left=*/true));
  if (a_.lengths && !until_last) add(iota(n_, keys_, DType::kI64) < per_batch(a_.lengths));
  if (a_.mask && n_.dtype(a_.mask) == DType::kBool) add(grouped_mask());
  return allowed;
}

// Whether all keys of a row are masked, with a last dim of 1. Null if no row is known to have this
// property. The scores do not matter: they can be NaN.
Value AttentionBuilder::rows_without_keys(Value added, Value allowed) {
  if ((!added && !allowed) || a_.fill || n_.has_failed()) return {};
  // In causal attention, each row attends to key 0.
  const bool is_causal = !a_.mask && !a_.lengths && !a_.left && !a_.offsets && *a_.right >= 0;
  if (is_causal && interval_of(a_.offset).min >= 0) return {};
  Formula bias(n_, added ? added : n_.scalar(0, computed_));
  if (allowed) bias = select(Formula(n_, allowed), bias, -kInfiniteScore);
  if (bias.rank() == 0) return bias == -kInfiniteScore;
  Value greatest = n_.emit<ReduceMaxOp>(
      {bias}, {n_.attr("axes", Ints{bias.rank() - 1}), n_.attr("keep_dims", true)});
  return Formula(n_, greatest) == -kInfiniteScore;
}

Formula AttentionBuilder::masked(const Formula& scores, Value added, Value allowed) {
  Formula sum = added ? scores + Formula(n_, added) : scores;
  if (!allowed || n_.has_failed()) return sum;
  const Formula condition(n_, allowed);
  if (!a_.fill) return select(condition, sum, -kInfiniteScore);
  return sum + select(condition, sum.scalar(0), *a_.fill);
}

// --- Softmax and result. ------------------------------------------------------------------------

Formula AttentionBuilder::probabilities(const Formula& scores) {
  Formula x = a_.has_f64_softmax ? scores.as(DType::kF64) : scores;
  const bool has_sink = a_.sinks || a_.has_zero_sink;
  if (has_sink) {
    Formula sinks = a_.sinks ? Formula(n_, a_.sinks).as(x.dtype()) : x.scalar(0).expand({heads_});
    sinks = sinks.reshape({DimExpr(1), kv_heads_, group_, DimExpr(1), DimExpr(1)})
                .expand({batch_, kv_heads_, group_, rows_, DimExpr(1)});
    x = Formula(n_, n_.concat({x, of_groups(sinks)}, 3));
  }
  Formula y(n_, n_.emit<SoftmaxOp>({x}, {n_.attr("axis", int64_t{3})}));
  if (has_sink)
    y = Formula(n_, n_.slice(y, Dims(4, DimExpr(0)), {batch_, kv_heads_, group_ * rows_, keys_}));
  return y.as(computed_);
}

AttentionResult AttentionBuilder::build(std::optional<ScoreStage> stage) {
  if (!read_dims()) return {};
  const DType dtype = n_.dtype(a_.queries);
  Value kept;
  const auto keep = [&](ScoreStage at, const Formula& x) {
    if (stage == at) kept = of_heads(x).as(dtype);
  };
  Formula x = scores();
  keep(ScoreStage::kProduct, x);
  if (a_.softcap > 0) x = tanh(x / a_.softcap) * a_.softcap;
  keep(ScoreStage::kSoftcapped, x);
  if (a_.modify_scores) x = of_groups({n_, a_.modify_scores(of_heads(x))});
  const Value added = added_mask(), allowed = allowed_keys();
  x = masked(x, added, allowed);
  keep(ScoreStage::kMasked, x);
  const Value empty = rows_without_keys(added, allowed);
  x = probabilities(x);
  // The guard selects 0 in the result if possible, because kernels fuse softmax and product.
  const bool uses_probabilities = stage == ScoreStage::kProbabilities || a_.modify_probabilities;
  if (empty && uses_probabilities) x = select(Formula(n_, empty), x.scalar(0), x);
  keep(ScoreStage::kProbabilities, x);
  if (a_.modify_probabilities) x = of_groups({n_, a_.modify_probabilities(of_heads(x))});
  Formula y = x.binary<MatMulOp>(n_.cast(a_.values, computed_));
  if (empty && !uses_probabilities) y = select(Formula(n_, empty), y.scalar(0), y);
  return {of_heads(y).as(dtype), kept};
}

}  // namespace

AttentionResult attention(Node& n, const Attention& a, std::optional<ScoreStage> stage) {
  return AttentionBuilder(n, a).build(stage);
}

int64_t head_count(Node& n, llvm::StringRef attribute) {
  const int64_t heads = n.integer(attribute);
  if (!n.has_failed() && (heads < 1 || heads > (1 << 20)))
    n.fail(attribute + " is " + llvm::Twine(heads) + ", expected 1 to 1048576");
  return n.has_failed() ? 1 : heads;
}

Value split_heads(Node& n, Value x, DimExpr heads, llvm::StringRef what) {
  if (n.has_failed()) return {};
  if (n.rank(x) != 3) return n.fail(what + " must have rank 3, but is " + text_of(n.type(x)));
  const DimExpr size = floordiv(n.dim(x, 2), heads);
  n.require_equal(size * heads, n.dim(x, 2),
                  "dim 2, {1}, is not a multiple of the number of heads");
  return n.transpose(n.reshape(x, {n.dim(x, 0), n.dim(x, 1), heads, size}), {0, 2, 1, 3});
}

Value merge_heads(Node& n, Value x) {
  if (n.has_failed()) return {};
  const Dims dims(n.shape(x));
  return n.reshape(n.transpose(x, {0, 2, 1, 3}), {dims[0], dims[2], dims[1] * dims[3]});
}

}  // namespace scopevm::compiler::frontend
