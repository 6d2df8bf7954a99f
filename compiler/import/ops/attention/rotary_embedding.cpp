// Rotary position embeddings as graph ops; see rotary_embedding.h. RotaryEmbedding of the standard.
#include "compiler/import/ops/attention/rotary_embedding.h"

#include "compiler/graph/type_rule.h"
#include "compiler/import/node/formula.h"
#include "compiler/import/ops/attention/attention.h"
#include "compiler/import/ops/indexing/require_indices.h"
#include "compiler/import/ops/op_table.h"

namespace scopevm::compiler::frontend {

using namespace graph;  // NOLINT: formulas read better without the prefix

Value rotated(Node& n, Value x, const Rotation& rotation) {
  if (n.has_failed()) return {};
  const DimExpr half = floordiv(rotation.size, 2), channels = n.dim(x, 3);
  n.require_equal(half * DimExpr(2), rotation.size,
                  "the number of rotated channels is {1}, expected an even number");
  n.require_at_least(channels, rotation.size,
                     "the number of rotated channels is {1}, but a head has {0}");
  for (Value angle : {rotation.cos, rotation.sin})
    n.require_equal(n.dim(angle, n.rank(angle) - 1), half,
                    "the last dim of the cosines and sines is {0}, expected {1}: one for each pair "
                    "of rotated channels");
  if (n.has_failed()) return {};
  const auto part = [&](DimExpr start, DimExpr size) {
    Dims starts(4, DimExpr(0)), sizes(n.shape(x));
    starts[3] = start;
    sizes[3] = size;
    return Formula(n, n.slice(x, starts, sizes));
  };
  const Formula cos(n, rotation.cos), sin(n, rotation.sin);
  llvm::SmallVector<Value> parts;
  if (rotation.is_interleaved) {
    Dims pairs(n.shape(x));
    pairs[3] = half;
    pairs.push_back(2);
    const Formula both = part(0, rotation.size).reshape(pairs);
    const Formula a = both.element_at(4, 0), b = both.element_at(4, 1);
    pairs.pop_back();
    pairs[3] = rotation.size;
    parts = {stack({a * cos - b * sin, b * cos + a * sin}, 4).reshape(pairs)};
  } else {
    const Formula a = part(0, half), b = part(half, half);
    parts = {a * cos - b * sin, b * cos + a * sin};
  }
  if (rotation.size != channels) parts.push_back(part(rotation.size, channels - rotation.size));
  return n.concat(parts, 3);
}

namespace {

// The cosines or sines of the tokens, [batch, 1, rows, size / 2]. The caches are indexed by the
// positions, or have an entry for each token.
Value angles_of(Node& n, size_t input, Value x) {
  const Value cache = n.input(input);
  if (n.has_failed()) return {};
  const bool has_positions = n.has_input(3);
  if (n.rank(cache) != (has_positions ? 2 : 3) || n.dtype(cache) != n.dtype(x))
    return n.fail("a cache is " + text_of(n.type(cache)) + ", expected " +
                  llvm::Twine(name(n.dtype(x))) + " of rank " + llvm::Twine(has_positions ? 2 : 3));
  if (!has_positions) return n.unsqueeze(cache, {1});
  const Value positions = n.input(3);
  if (n.has_failed()) return {};
  if (n.rank(positions) != 2 || n.dtype(positions) != DType::kI64)
    return n.fail("position_ids is " + text_of(n.type(positions)) + ", expected i64 of rank 2");
  require_indices(n, positions, {n.dim(cache, 0)});
  return Formula(n, cache).gather(positions, 0).unsqueeze({1});
}

Values standard_rotary_embedding(Node& n) {
  Value x = n.input(0);
  if (n.has_failed()) return Value();
  const bool has_heads = n.rank(x) == 4;
  if (!has_heads) {
    const int64_t heads = n.integer("num_heads", 0);
    if (n.rank(x) != 3 || heads < 1 || heads > (1 << 20))
      return n.fail(
          "the input must have rank 4, or rank 3 with num_heads from 1 to 1048576, but is " +
          text_of(n.type(x)) + " with num_heads " + llvm::Twine(heads));
    x = split_heads(n, x, heads, "the input");
  }
  const int64_t size = n.integer("rotary_embedding_dim", 0);
  if (size < 0)
    return n.fail("rotary_embedding_dim is " + llvm::Twine(size) + ", expected at least 0");
  Rotation rotation{.cos = angles_of(n, 1, x),
                    .sin = angles_of(n, 2, x),
                    .size = size == 0 ? n.dim(x, 3) : DimExpr(size),
                    .is_interleaved = n.flag("interleaved", false)};
  x = rotated(n, x, rotation);
  return has_heads ? x : merge_heads(n, x);
}

}  // namespace

const OpRows kRotaryEmbeddingOps = {
    {"RotaryEmbedding", 23, standard_rotary_embedding,
     OpSignature{"X cos_cache sin_cache position_ids?",
                 "interleaved num_heads rotary_embedding_dim"}},
};

}  // namespace scopevm::compiler::frontend
