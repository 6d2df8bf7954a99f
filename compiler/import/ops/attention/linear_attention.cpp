// LinearAttention: a state of each head, [key size, value size], to which each token adds the outer
// product of its key and value, and which its query reads afterwards. The rules are those of linear
// attention, gated linear attention and the delta rule (S. Yang et al., "Gated Delta Networks",
// 2024). Tokens are iterations of a loop; all heads are batch dims of its products.
#include <cmath>

#include "compiler/graph/type_rule.h"
#include "compiler/import/node/formula.h"
#include "compiler/import/ops/attention/attention.h"
#include "compiler/import/ops/op_table.h"
#include "runtime/quoted.h"

namespace scopevm::compiler::frontend {
namespace {

using namespace graph;  // NOLINT: formulas read better without the prefix

enum LinearInput : uint8_t { kLinearQuery, kLinearKey, kLinearValue, kLinearState, kDecay, kBeta };

struct LinearAttention {
  Value queries, keys, values;  // [batch, heads, tokens, size], f32
  Value decay, beta;            // [batch, kv_heads or 1, tokens, size or 1], f32; can be null
  DimExpr batch = 1, kv_heads = 1, group = 1, tokens = 1, key_size = 1, value_size = 1;
  double scale = 1;
};

// An input with kv_heads * size elements per token, where the size can be 1.
Value per_head(Node& n, size_t input, DimExpr heads, const char* what) {
  const Value x = split_heads(n, n.input(input), heads, what);
  return n.cast(x, DType::kF32);
}

// Reads an input that the update rule requires or excludes.
bool is_given(Node& n, size_t input, const char* name, bool is_required) {
  if (n.has_input(input) == is_required) return is_required;
  n.fail("update_rule " + runtime::quoted(n.text("update_rule", "gated_delta")) +
         (is_required ? " requires" : " excludes") + " the input " + name);
  return false;
}

// The value with the batch size and the number of tokens of the keys, so that these dims are
// provably equal.
Value of_keys(Node& n, const LinearAttention& a, Value x) {
  if (n.has_failed()) return {};
  return n.reshape(x, {a.batch, n.dim(x, 1), a.tokens, n.dim(x, 3)});
}

void read_gates(Node& n, LinearAttention& a) {
  const std::string rule = n.text("update_rule", "gated_delta");
  const bool is_gated = rule == "gated" || rule == "gated_delta";
  const bool is_delta = rule == "delta" || rule == "gated_delta";
  if (!is_gated && !is_delta && rule != "linear") {
    n.fail("update_rule is " + runtime::quoted(rule) +
           ", expected linear, gated, delta or gated_delta");
    return;
  }
  if (is_given(n, kDecay, "decay", is_gated)) {
    a.decay = of_keys(n, a, per_head(n, kDecay, a.kv_heads, "decay"));
    if (n.has_failed()) return;
    const DimExpr size = n.dim(a.decay, 3);
    if (size.is_constant() && !size.is_constant(1))
      n.require_equal(size, a.key_size, "decay has {0} elements per head, expected {1}");
    if (n.has_failed()) return;
    // A symbolic size can be 1 or that of the keys.
    if (!size.is_constant(1)) {
      const Dims dims = {a.batch, a.kv_heads, a.tokens, a.key_size};
      a.decay = n.reshape(n.expand(a.decay, dims), dims);
    }
  }
  if (is_given(n, kBeta, "beta", is_delta)) {
    Value beta = n.input(kBeta);
    if (n.has_failed()) return;
    // A symbolic dim can be 1 or the number of heads.
    if (n.rank(beta) == 3 && !n.dim(beta, 2).is_constant()) {
      const Dims dims = {n.dim(beta, 0), n.dim(beta, 1), a.kv_heads};
      beta = n.reshape(n.expand(beta, dims), dims);
    }
    const bool is_shared = n.rank(beta) == 3 && n.dim(beta, 2).is_constant(1);
    beta = split_heads(n, beta, is_shared ? DimExpr(1) : a.kv_heads, "beta");
    a.beta = of_keys(n, a, n.cast(beta, DType::kF32));
    if (n.has_failed()) return;
    n.require_equal(n.dim(a.beta, 3), 1, "beta has {0} elements per head, expected {1}");
    if (n.has_failed()) return;
    a.beta = n.reshape(a.beta, {a.batch, n.dim(a.beta, 1), a.tokens, 1});
  }
}

// Each head of x, [batch, heads, tokens, size], as often as it takes to get `total` heads. Constant
// numbers of heads are multiples.
Value repeated_heads(Node& n, Value x, int64_t total) {
  if (n.has_failed() || n.dim(x, 1).is_constant(total)) return x;
  const DimExpr batch = n.dim(x, 0), heads = n.dim(x, 1), tokens = n.dim(x, 2), size = n.dim(x, 3);
  const DimExpr times = floordiv(total, max(heads, 1));
  n.require_equal(heads * times, total,
                  "the number of heads of the keys does not divide kv_num_heads, {1}");
  if (n.has_failed()) return {};
  return n.reshape(n.expand(n.unsqueeze(x, {2}), {batch, heads, times, tokens, size}),
                   {batch, total, tokens, size});
}

// Keys have the size of the queries, `key_size`. Each of their heads can belong to several heads of
// the values.
Value read_keys(Node& n, DimExpr key_size, int64_t kv_heads) {
  const Value key = n.input(kLinearKey);
  if (n.has_failed() || n.rank(key) != 3 || n.dim(key, 2) == key_size * DimExpr(kv_heads))
    return per_head(n, kLinearKey, kv_heads, "key");
  const DimExpr heads = floordiv(n.dim(key, 2), max(key_size, 1));
  n.require_equal(heads * key_size, n.dim(key, 2),
                  "key has {1} elements per token, which are not whole heads of the queries' size");
  if (n.has_failed()) return {};
  const Value x =
      n.reshape(n.cast(key, DType::kF32), {n.dim(key, 0), n.dim(key, 1), heads, key_size});
  return repeated_heads(n, n.transpose(x, {0, 2, 1, 3}), kv_heads);
}

LinearAttention read_linear_attention(Node& n) {
  LinearAttention a;
  const int64_t heads = head_count(n, "q_num_heads"), kv_heads = head_count(n, "kv_num_heads");
  if (n.has_failed()) return a;
  if (heads % kv_heads != 0 && kv_heads % heads != 0) {
    n.fail("q_num_heads is " + llvm::Twine(heads) + " and kv_num_heads " + llvm::Twine(kv_heads) +
           ", expected one to be a multiple of the other");
    return a;
  }
  a.queries = per_head(n, kLinearQuery, heads, "query");
  if (n.has_failed()) return a;
  a.keys = read_keys(n, n.dim(a.queries, 3), kv_heads);
  if (heads < kv_heads) a.queries = repeated_heads(n, a.queries, kv_heads);
  a.values = per_head(n, kLinearValue, kv_heads, "value");
  if (n.has_failed()) return a;
  a.batch = n.dim(a.keys, 0);
  a.kv_heads = kv_heads;
  a.group = std::max<int64_t>(heads / kv_heads, 1);
  a.tokens = n.dim(a.keys, 2);
  a.key_size = n.dim(a.keys, 3);
  a.value_size = n.dim(a.values, 3);
  n.require_equal(a.key_size, n.dim(a.queries, 3), "key has {0} elements per head, query {1}");
  n.require_equal(n.dim(a.queries, 2), a.tokens, "there are {0} queries, but {1} keys");
  n.require_equal(n.dim(a.values, 2), a.tokens, "there are {0} values, but {1} keys");
  a.scale = n.number("scale", 0);
  if (auto size = a.key_size.as_constant(); a.scale == 0 && size)
    a.scale = 1 / std::sqrt(static_cast<double>(*size));
  a.queries = of_keys(n, a, a.queries);
  a.values = of_keys(n, a, a.values);
  read_gates(n, a);
  return a;
}

// One token: replaces the state, [batch, kv_heads, key_size, value_size], and returns the result,
// [batch, kv_heads, group, value_size].
Formula attend(Node& n, const LinearAttention& a, DimExpr token, Formula& state) {
  const auto now = [&](Value x) {  // [batch, heads, 1, size]
    return Formula(n, x).element_at(2, token, /*keep_axis=*/true);
  };
  const auto column = [](const Formula& row) { return row.move_axis(3, 2); };
  if (a.decay) state = state * exp(column(now(a.decay)));
  const Formula key = now(a.keys);
  Formula value = now(a.values);
  if (a.beta) value = now(a.beta) * (value - key.binary<MatMulOp>(state));
  state = state + column(key) * value;
  Formula query = now(a.queries).reshape({a.batch, a.kv_heads, a.group, a.key_size});
  Formula y = query.binary<MatMulOp>(state);
  return a.scale != 0 ? y * a.scale : y / sqrt(number(n, a.key_size, DType::kF32));
}

// The states after the last tokens, oldest first, and the state after one more token.
Value with_last(Node& n, Value window, Value state) {
  if (n.has_failed()) return {};
  Dims starts(static_cast<size_t>(n.rank(window)), DimExpr(0)), sizes(n.shape(window));
  starts[0] = 1;
  sizes[0] = sizes[0] - 1;
  return n.concat({n.slice(window, starts, sizes), n.unsqueeze(state, {0})}, 0);
}

// The state before the first token, f32. With a window, the input has the states after several
// tokens, and the last one counts.
Value first_state(Node& n, const Dims& dims, int64_t window) {
  if (!n.has_input(kLinearState)) return n.expand(n.scalar(0, DType::kF32), dims);
  const Value given = n.input(kLinearState);
  if (n.has_failed()) return {};
  const int64_t rank = window > 0 ? 5 : 4;
  if (n.rank(given) != rank)
    return n.fail("past_state is " + text_of(n.type(given)) + ", expected rank " +
                  llvm::Twine(rank)),
           Value();
  if (window > 0)
    n.require_equal(n.dim(given, 0), window, "past_state has {0} slots, expected {1}");
  const Formula state(n, given);
  return (window > 0 ? state.element_at(0, window - 1) : state).as(DType::kF32).reshape(dims);
}

// The states after the last tokens are [window, batch, ...], with zeros for tokens before the
// first.
Values linear_attention(Node& n) {
  const LinearAttention a = read_linear_attention(n);
  const int64_t window = n.integer("state_window", 0);
  if (window < 0 || window > 8)
    n.fail("state_window is " + llvm::Twine(window) + ", expected 0 to 8");
  if (n.has_failed()) return Value();
  const Dims state_dims = {a.batch, a.kv_heads, a.key_size, a.value_size};
  llvm::SmallVector<Value> states = {first_state(n, state_dims, window)};
  if (n.has_failed()) return Value();
  const DType state_type =
      n.dtype(n.input(n.has_input(kLinearState) ? kLinearState : kLinearQuery));
  if (window > 0) {
    Dims dims(state_dims);
    dims.insert(dims.begin(), DimExpr(window));
    states.push_back(n.expand(n.scalar(0, DType::kF32), dims));
  }
  const auto next = [&](DimExpr token, mlir::ValueRange before, Formula& y) {
    Formula now(n, before[0]);
    y = attend(n, a, token, now);
    llvm::SmallVector<Value> after = {now};
    if (window > 0) after.push_back(with_last(n, before[1], now));
    return after;
  };
  Formula y(n, Value());  // [tokens, batch, kv_heads, group, value_size]
  if (a.tokens.is_constant(1)) {
    states = next(0, states, y);
    y = y.unsqueeze({0});
  } else {
    auto results = n.loop(a.tokens, states, [&](DimExpr token, mlir::ValueRange carried) {
      Formula part(n, Value());
      llvm::SmallVector<Value> after = next(token, carried, part);
      return Iteration{.condition = {}, .carried = std::move(after), .parts = {Value(part)}};
    });
    if (n.has_failed()) return Value();
    states.assign(results.begin(), results.begin() + static_cast<std::ptrdiff_t>(states.size()));
    y = Formula(n, results.back());
  }
  const Formula result =
      y.move_axis(0, 1).reshape({a.batch, a.tokens, a.kv_heads * a.group * a.value_size});
  return {result.as(n.dtype(n.input(kLinearQuery))), n.cast(states.back(), state_type)};
}

}  // namespace

const OpRows kLinearAttentionOps = {
    {"LinearAttention", 27, linear_attention,
     OpSignature{"query key value past_state? decay? beta?",
                 "chunk_size kv_num_heads q_num_heads scale update_rule"}},
};

const OpRows kMicrosoftLinearAttentionOps = {
    {"LinearAttention", 1, linear_attention,
     OpSignature{"query key value past_state? decay? beta?",
                 "chunk_size kv_num_heads q_num_heads scale state_window update_rule"}},
};

}  // namespace scopevm::compiler::frontend
