// Attention: softmax(scale * queries keys^T + masks) values, as a composition of graph ops. The
// operators that compute attention are front ends of attention(): onnx_attention.cpp has those of
// the standard.
#pragma once

#include <functional>
#include <optional>

#include "compiler/import/node/node.h"

namespace scopevm::compiler::frontend {

// The scores in the order in which they are computed. The operators can return one of them.
enum class ScoreStage : uint8_t {
  kProduct,        // scale * queries keys^T
  kSoftcapped,     // after Attention::softcap
  kMasked,         // after all masks
  kProbabilities,  // after the softmax
};

struct Attention {
  // [batch, heads, rows, size], [batch, kv_heads, keys, size], [batch, kv_heads, keys, value_size].
  // `heads` is a multiple of `kv_heads`: query head h uses key head h / (heads / kv_heads).
  Value queries, keys, values;

  std::optional<double> scale;  // unset: 1 / sqrt(size)
  double softcap = 0;           // s -> softcap * tanh(s / softcap); 0: no limit

  // Broadcasts from the right to [batch, heads, rows, keys]. A bool is true where a row attends to
  // a key. Elements of any other type are added to the scores. The last dim can be less than
  // `keys`: the other keys are masked. With broadcasts_keys, a last dim of 1 broadcasts instead.
  Value mask;
  bool broadcasts_keys = false;

  // Row r has the position p = offset + offsets[batch] + r. It attends to keys from p - left to
  // p + right, both included. Unset: no limit. Causal attention has right = 0.
  std::optional<int64_t> left, right;
  DimExpr offset = 0;
  Value offsets;  // integers, [batch]; null: 0

  Value lengths;  // integers, [batch]: keys from lengths[b] on are masked; null: none
  // Rows after the last key have its position. Requires `lengths`.
  bool limits_positions = false;

  // Each row has one more score, of a key whose value is 0: sinks[head], or 0 if has_zero_sink.
  Value sinks;  // [heads]; null: none
  bool has_zero_sink = false;

  // The score of a masked key. Unset: -inf, and the result is 0 in rows whose keys are all masked.
  // Otherwise this number is added to the scores of masked keys.
  std::optional<double> fill;

  // Scores are computed in f32, or in f64 if an operand is f64, or the softmax if this is set.
  bool has_f64_softmax = false;

  // Replace the scores before the masks, and the probabilities. Their operand and result have the
  // shape [batch, heads, rows, keys]. Empty: no change.
  std::function<Value(Value)> modify_scores, modify_probabilities;
};

// Both have the element type of the queries.
struct AttentionResult {
  Value result;  // [batch, heads, rows, value_size]
  Value scores;  // [batch, heads, rows, keys] at the requested stage, else null
};

// Fails the node if the shapes do not match.
AttentionResult attention(Node& n, const Attention& a,
                          std::optional<ScoreStage> stage = std::nullopt);

// The number of heads that a required attribute states. Fails the node unless it is positive.
int64_t head_count(Node& n, llvm::StringRef attribute);
// [batch, rows, heads * size] -> [batch, heads, rows, size]. `what` names the value in errors.
Value split_heads(Node& n, Value x, DimExpr heads, llvm::StringRef what);
// The inverse of split_heads().
Value merge_heads(Node& n, Value x);

}  // namespace scopevm::compiler::frontend
