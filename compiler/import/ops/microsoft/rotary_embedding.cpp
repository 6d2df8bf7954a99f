// com.microsoft.RotaryEmbedding, and rotations; see rotary_embedding.h.
#include "compiler/import/ops/microsoft/rotary_embedding.h"

#include "compiler/graph/type_rule.h"
#include "compiler/import/node/checks.h"
#include "compiler/import/node/formula.h"
#include "compiler/import/ops/op_table.h"

namespace scopevm::compiler::frontend {

using namespace graph;  // NOLINT: formulas read better without the prefix

Rotation rotation_at(Node& n, Value cosines, Value sines, Value positions, bool is_interleaved) {
  const Formula at(n, positions);
  if (n.has_failed()) return {};
  Formula end = number(n, n.dim(cosines, 0), DType::kI64);
  Formula is_inside = (at < end) & (at.scalar(0) <= at);
  n.require(
      n.emit<ReduceMinOp>({is_inside}, {n.attr("axes", Ints{0, 1}), n.attr("keep_dims", false)}),
      "a position is outside of the caches");
  return {.cos = Formula(n, cosines).gather(at, 0).unsqueeze({2}),
          .sin = Formula(n, sines).gather(at, 0).unsqueeze({2}),
          .size = n.dim(cosines, 1) * DimExpr(2),
          .is_interleaved = is_interleaved};
}

namespace {

// The position of each token: i64 [batch, length], or [1, length].
Value positions_of(Node& n, Value ids, DimExpr batch, DimExpr length) {
  if (!check_dtype(n, ids, "position_ids", {DType::kI64})) return {};
  if (n.rank(ids) != 1) return shaped(n, ids, "position_ids", {batch, length});
  // One number is the position of the first token.
  Formula first(n, shaped(n, ids, "position_ids", {1}));
  return (first + iota(n, length, DType::kI64)).unsqueeze({0});
}

Values rotary_embedding(Node& n) {
  Formula x(n, n.input(0));
  Value cosines = n.input(2), sines = n.input(3);
  if (!check_rank(n, x, "the input", 3, 4) || !check_rank(n, cosines, "cos_cache", 2, 2))
    return Value();
  const int64_t heads = integer_within(n, "num_heads", 0, 0, int64_t{1} << 20);
  const int64_t turned = integer_within(n, "rotary_embedding_dim", 0, 0, int64_t{1} << 20);
  if (n.number("scale", 1) != 1) n.unsupported("scale is not 1; other scales are not supported");
  const bool has_heads_first = x.rank() == 4;
  const DimExpr half = n.dim(cosines, 1), limit = n.dim(cosines, 0);
  if (has_heads_first) x = x.transpose({0, 2, 1, 3});
  if (n.has_failed()) return Value();
  const DimExpr batch = n.dim(x, 0), length = n.dim(x, 1), width = n.dim(x, 2);
  const Dims dims(x.shape());
  if (turned > 0) {
    if (heads == 0 && !has_heads_first)
      return n.fail("num_heads is missing; rotary_embedding_dim requires it");
    n.require_equal(half * DimExpr(2), turned,
                    "twice the last dim of cos_cache is {0}, expected rotary_embedding_dim, {1}");
  }
  if (!has_heads_first) {
    const DimExpr size = heads > 0 ? floordiv(width, heads) : half * DimExpr(2);
    const DimExpr count = heads > 0 ? DimExpr(heads) : floordiv(width, size);
    n.require_equal(size * count, width, "the last dim of the input is {1}, expected {0}");
    x = x.reshape({batch, length, count, size});
  }
  if (n.has_failed()) return Value();
  n.require_at_least(n.dim(x, 3), half * DimExpr(2),
                     "the heads have {0} channels, expected at least the {1} that are rotated");
  sines = shaped(n, sines, "sin_cache", {limit, half});
  Value at = positions_of(n, n.input(1), batch, length);
  if (n.has_failed()) return Value();
  const Formula y(n,
                  rotated(n, x, rotation_at(n, cosines, sines, at, n.flag("interleaved", false))));
  if (has_heads_first) return y.transpose({0, 2, 1, 3});
  return y.reshape(dims);
}

}  // namespace

const OpRows kMicrosoftRotaryEmbeddingOps = {
    {"RotaryEmbedding", 1, rotary_embedding,
     OpSignature{"input position_ids cos_cache sin_cache",
                 "interleaved is_packed_batching num_heads rotary_embedding_dim scale"}},
};

}  // namespace scopevm::compiler::frontend
