// TensorScatter: writes consecutive entries of a cache along an axis, from an index of each batch
// element on.
#include "compiler/graph/type_rule.h"
#include "compiler/import/node/formula.h"
#include "compiler/import/ops/op_table.h"
#include "runtime/quoted.h"

namespace scopevm::compiler::frontend {
namespace {

using namespace graph;  // NOLINT: formulas read better without the prefix

// Requires first >= 0 and first + count <= size for all elements of `first`.
void require_entries(Node& n, const Formula& first, const Formula& count, const Formula& size) {
  Formula is_inside = (first.scalar(0) <= first) & (first + count <= size);
  n.require(n.emit<ReduceMinOp>({is_inside}, {n.attr("axes", first_axes(is_inside.rank())),
                                              n.attr("keep_dims", false)}),
            "write_indices are negative, or the update ends after the last entry of the cache");
}

// The entry of each row of the update, [batch, rows].
Formula entries(Node& n, Value cache, Value update, int64_t axis, bool is_circular) {
  const DimExpr size = n.dim(cache, axis), rows = n.dim(update, axis);
  Formula index = iota(n, rows, DType::kI64), entry_count = number(n, size, DType::kI64);
  n.require_at_least(size, rows, "the update has {1} entries, but the cache {0}");
  if (!n.has_input(2)) return index.expand({n.dim(update, 0), rows});
  Formula first(n, n.input(2));
  if (n.has_failed()) return first;
  if (first.rank() != 1 || first.dtype() != DType::kI64 ||
      !may_be_equal(n.dim(first, 0), n.dim(update, 0)))
    n.fail("write_indices is " + text_of(n.type(first)) + ", expected i64[" +
           n.dim(update, 0).str() + "]");
  if (!is_circular) require_entries(n, first, number(n, rows, DType::kI64), entry_count);
  Formula entry = first.reshape({n.dim(update, 0), DimExpr(1)}) + index;
  return is_circular ? entry % entry_count : entry;
}

Values tensor_scatter(Node& n) {
  Value cache = n.input(0), update = n.input(1);
  const int64_t axis = n.axis(n.integer("axis", -2), n.rank(cache));
  const std::string mode = n.text("mode", "linear");
  if (n.has_failed()) return Value();
  if (mode != "linear" && mode != "circular")
    return n.fail("mode is " + runtime::quoted(mode) + ", expected linear or circular");
  if (axis == 0) return n.fail("axis is 0, the batch axis, expected a later one");
  if (n.rank(cache) != n.rank(update))
    return n.fail("the cache is " + text_of(n.type(cache)) + ", but the update " +
                  text_of(n.type(update)));
  for (int64_t i = 0; i < n.rank(cache); ++i)
    if (i != axis)
      n.require_equal(n.dim(update, i), n.dim(cache, i),
                      "a dim of the update is {0}, but that of the cache is {1}");
  Formula entry = entries(n, cache, update, axis, mode == "circular");
  Dims dims(static_cast<size_t>(n.rank(update)), DimExpr(1));
  dims[0] = n.dim(update, 0);
  dims[static_cast<size_t>(axis)] = n.dim(update, axis);
  Value indices = entry.reshape(dims).expand(Dims(n.shape(update)));
  return n.emit<ScatterElementsOp>({cache, indices, update},
                                   {n.attr("axis", axis), n.attr("reduction", "none")});
}

}  // namespace

const OpRows kTensorScatterOps = {
    {"TensorScatter", 24, tensor_scatter,
     OpSignature{"past_cache update write_indices?", "axis mode"}},
};

}  // namespace scopevm::compiler::frontend
