// ONNX ops that read or write elements at indices: Gather*, Scatter* and OneHot.
//
// The graph ops of Gather* and Scatter* clamp indices, but ONNX requires an error for an index out
// of range. Constant indices into axes of constant size are checked at compile time. Other indices
// known as dims are checked by the shape function. Data-dependent indices are checked by a pass
// over them at run time.
#include <algorithm>

#include "compiler/graph/values/constant_array.h"
#include "compiler/import/node/formula.h"
#include "compiler/import/ops/indexing/require_indices.h"
#include "compiler/import/ops/op_table.h"

namespace scopevm::compiler::frontend {
namespace {

using namespace graph;  // NOLINT: formulas read better without the prefix

DimExpr least_index(DimExpr size, LeastIndex least) {
  return least == LeastIndex::kZero ? DimExpr(0) : DimExpr(0) - size;
}

std::string range_text(llvm::ArrayRef<DimExpr> sizes, LeastIndex least) {
  std::string text;
  for (DimExpr size : sizes)
    text += (text.empty() ? "[" : ", [") + least_index(size, least).str() + ", " + size.str() + ")";
  return text;
}

// Emits checks that `index` is in [least index, size).
void require_index(Node& n, DimExpr index, DimExpr size, LeastIndex least) {
  n.require_at_least(size - DimExpr(1), index,
                     "index {1} is out of range: the last valid index is {0}");
  n.require_at_least(index, least_index(size, least),
                     "index {0} is out of range: the first valid index is {1}");
}

// Checks the minimum and maximum of each column, and thereby all indices. Column i contains the
// indices into an axis of size sizes[i].
void require_constants(Node& n, const ConstantArray& indices, llvm::ArrayRef<DimExpr> sizes,
                       LeastIndex first) {
  auto columns = static_cast<int64_t>(sizes.size());
  for (int64_t column = 0; column < columns; ++column) {
    // 0 is a valid index into every axis that is not empty, so it can be the initial value of both.
    int64_t least = 0, greatest = 0;
    for (int64_t i = column; i < indices.count(); i += columns) {
      least = std::min(least, indices.integer(i));
      greatest = std::max(greatest, indices.integer(i));
    }
    if (indices.count() == 0) continue;
    require_index(n, least, sizes[static_cast<size_t>(column)], first);
    require_index(n, greatest, sizes[static_cast<size_t>(column)], first);
  }
}

}  // namespace

void require_indices(Node& n, Value indices, llvm::ArrayRef<DimExpr> sizes, LeastIndex least) {
  if (n.has_failed() || sizes.empty()) return;
  if (auto constant = indices.getDefiningOp<ConstantOp>())
    return require_constants(n, ConstantArray(constant), sizes, least);
  if (n.is_known(indices)) {
    Dims known = n.dims_of(indices, "the indices", Node::Sign::kAny);
    for (size_t i = 0; i < known.size(); ++i)
      require_index(n, known[i], sizes[i % sizes.size()], least);
    return;
  }
  Formula index = Formula(n, indices).as(DType::kI64);
  Formula size(n, n.dims_value(Dims(sizes), sizes.size() == 1));
  const Formula first = least == LeastIndex::kZero ? size.scalar(0) : 0.0 - size;
  Formula is_inside = (index < size) & (first <= index);
  // The minimum of bools is true if all of them are.
  n.require(n.emit<ReduceMinOp>({is_inside}, {n.attr("axes", first_axes(is_inside.rank())),
                                              n.attr("keep_dims", false)}),
            "an index is outside the range " + range_text(sizes, least));
}

namespace {

template <typename Op>
Values gather_along(Node& n) {
  Value x = n.input(0), indices = n.input(1);
  int64_t axis = n.axis(n.integer("axis", 0), n.rank(x));
  if (!n.has_failed()) require_indices(n, indices, {n.dim(x, axis)});
  return n.emit<Op>({x, indices}, {n.attr("axis", axis)});
}

// Requires index tuples, the last dim of `indices`, to be in range for x without its first `batch`
// dims. The type rule of the op reports tuples of invalid length.
void require_tuples(Node& n, Value x, Value indices, int64_t batch) {
  if (n.has_failed() || n.rank(indices) == 0) return;
  std::optional<int64_t> length = n.shape(indices).back().as_constant();
  if (batch < 0 || !length || *length < 0 || *length > n.rank(x) - batch) return;
  require_indices(n, indices,
                  n.shape(x).slice(static_cast<size_t>(batch), static_cast<size_t>(*length)));
}

Values gather_nd(Node& n) {
  Value x = n.input(0), indices = n.input(1);
  int64_t batch = n.integer("batch_dims", 0);
  require_tuples(n, x, indices, batch);
  return n.emit<GatherNdOp>({x, indices}, {n.attr("batch_dims", batch)});
}

mlir::NamedAttribute reduction(Node& n) {
  const std::string name = n.text("reduction", "none");
  if (!symbolizeScatterReduction(name))
    n.fail("reduction is \"" + name + "\", expected none, add, mul, min or max");
  return n.attr("reduction", llvm::StringRef(name));
}

Values scatter_elements(Node& n) {
  Value x = n.input(0), indices = n.input(1);
  int64_t axis = n.axis(n.integer("axis", 0), n.rank(x));
  if (!n.has_failed()) require_indices(n, indices, {n.dim(x, axis)});
  return n.emit<ScatterElementsOp>({x, indices, n.input(2)}, {n.attr("axis", axis), reduction(n)});
}

Values scatter_nd(Node& n) {
  Value x = n.input(0), indices = n.input(1);
  require_tuples(n, x, indices, 0);
  return n.emit<ScatterNdOp>({x, indices, n.input(2)}, {reduction(n)});
}

Values one_hot(Node& n) {
  Value indices = n.input(0), depth = n.input(1);
  Dims size;
  bool is_float = scopevm::is_float(n.dtype(depth));
  if (is_float && depth.getDefiningOp<ConstantOp>())
    for (float d : n.numbers_of(depth, "the depth")) size.push_back(static_cast<int64_t>(d));
  else
    size = n.dims_of(is_float ? n.cast(depth, DType::kI64) : depth, "the depth");
  if (size.size() != 1 && !n.has_failed())
    n.fail("the depth must have 1 element, given " + llvm::Twine(size.size()));
  return n.emit<OneHotOp>(
      {n.cast(indices, DType::kI64), n.input(2)},
      {n.attr("depth", size), n.attr("axis", n.axis(n.integer("axis", -1), n.rank(indices) + 1))});
}

}  // namespace

const OpRows kIndexingOps = {
    {"Gather", 1, gather_along<GatherOp>},
    {"GatherElements", 11, gather_along<GatherElementsOp>},
    {"GatherND", 11, gather_nd},
    {"Scatter", 9, scatter_elements},
    {"ScatterElements", 11, scatter_elements},
    {"ScatterND", 11, scatter_nd},
    {"OneHot", 9, one_hot},
};

}  // namespace scopevm::compiler::frontend
