// ONNX ops that select elements: TopK, NonZero, Compress, Unique, NonMaxSuppression.
//
// Except for TopK, the sizes of their results are data-dependent. Such an op computes a count,
// reads it as a dim (sv.read_dims), and allocates a result of that size. The host reads only the
// count, not the data.
#include <limits>

#include "compiler/import/ops/selection/data_dependent.h"

#include "compiler/graph/type_rule.h"
#include "compiler/import/node/formula.h"
#include "compiler/import/ops/op_table.h"

namespace scopevm::compiler::frontend {
namespace {

using namespace graph;  // NOLINT: formulas read better without the prefix

// The indices of the nonzero elements of a vector. No value unless all elements are known numbers.
std::optional<Ints> known_nonzero(Node& n, Value x) {
  if (n.has_failed() || !n.is_known(x) || n.rank(x) != 1) return std::nullopt;
  Ints indices;
  Dims elements = n.dims_of(x, "the elements", Node::Sign::kAny);
  for (size_t i = 0; i < elements.size(); ++i) {
    if (!elements[i].is_constant()) return std::nullopt;
    if (!elements[i].is_constant(0)) indices.push_back(static_cast<int64_t>(i));
  }
  return indices;
}

// i64[rank, count]: the indices of nonzero elements.
Value nonzero(Node& n, Value x) {
  if (std::optional<Ints> known = known_nonzero(n, x)) return n.unsqueeze(n.constant(*known), {0});
  mlir::Operation* counted = n.emit(CountNonzeroOp::getOperationName(), {x}, {});
  if (!counted) return {};
  Dims count = n.dims_of(counted->getResult(1), "the count");
  return n.emit<NonzeroOp>({x, counted->getResult(0)}, {n.attr("count", count)});
}

Values nonzero(Node& n) { return nonzero(n, n.input(0)); }

Value flattened(Node& n, Value x) { return n.reshape(x, {element_count(n.shape(x))}); }

// Input 0 and the attribute `axis`. Without the attribute, x is the flattened input, and the axis
// is 0.
struct Along {
  Value x;
  int64_t axis;
};
Along along(Node& n) {
  Value x = n.input(0);
  if (n.has_attribute("axis")) return {x, n.axis(n.integer("axis"), n.rank(x))};
  return {flattened(n, x), 0};
}

}  // namespace

Value taken_where(Node& n, Value x, Value condition, int64_t axis) {
  Value indices = nonzero(n, condition);
  if (n.has_failed()) return {};
  return n.emit<GatherOp>({x, n.reshape(indices, {n.dim(indices, 1)})}, {n.attr("axis", axis)});
}

namespace {

// The condition may be shorter than the axis. Elements beyond its end are not selected.
Values compress(Node& n) {
  auto [x, axis] = along(n);
  Value condition = n.input(1);
  if (n.has_failed()) return Value();
  if (n.rank(condition) != 1)
    return n.fail("the condition must have rank 1, but is " + text_of(n.type(condition)));
  DimExpr given = n.dim(condition, 0), taken = min(given, n.dim(x, axis));
  if (taken != given) condition = n.slice(condition, {DimExpr(0)}, {taken});
  return taken_where(n, x, condition, axis);
}

// --- Unique. ------------------------------------------------------------------------------------

// Reshapes x to a matrix with one row for each index along the axis.
Value rows_of(Node& n, Value x, int64_t axis) {
  Ints permutation = {axis};
  for (int64_t d = 0; d < n.rank(x); ++d)
    if (d != axis) permutation.push_back(d);
  Value front = axis == 0 ? x : n.transpose(x, permutation);
  if (n.has_failed()) return {};
  return n.reshape(front, {n.dim(front, 0), element_count(n.shape(front).drop_front())});
}

Values unique(Node& n) {
  auto [x, axis] = along(n);
  Value rows = rows_of(n, x, axis), order = n.emit<SortRowsOp>({rows});
  mlir::Operation* found = n.emit(UniqueRowsOp::getOperationName(), {rows, order},
                                  {n.attr("by_first", !n.flag("sorted", true))});
  if (!found) return Value();
  Dims count = n.dims_of(found->getResult(3), "the count");
  auto taken = [&](unsigned result) {
    return n.slice(found->getResult(result), {DimExpr(0)}, count);
  };
  // The results of sv.unique_rows have one entry per row of x. In `first` and `sizes`, only the
  // first `count` entries are valid.
  Value first = taken(0);
  Value values = n.emit<GatherOp>({x, first}, {n.attr("axis", axis)});
  return {values, first, found->getResult(1), n.wants_output(3) ? taken(2) : Value()};
}

// --- NonMaxSuppression. -------------------------------------------------------------------------

Value threshold(Node& n, size_t input, double otherwise) {
  if (!n.has_input(input)) return n.scalar(otherwise, DType::kF32);
  return n.reshape(n.input(input), {});
}

// Checks that boxes[b, n, 4] match scores[b, class, n]. Returns the boxes with the dims b and n of
// the scores.
Value boxes_like(Node& n, Value boxes, Value scores) {
  if (n.rank(boxes) != 3 || n.rank(scores) != 3)
    return n.fail("boxes and scores must have rank 3, but are " + text_of(n.type(boxes)) + " and " +
                  text_of(n.type(scores)));
  n.require_equal(n.dim(boxes, 0), n.dim(scores, 0),
                  "the batch dim of boxes is {0}, of scores {1}; they must be equal");
  n.require_equal(n.dim(boxes, 1), n.dim(scores, 2),
                  "the number of boxes is {0}, of scores {1}; they must be equal");
  n.require_equal(n.dim(boxes, 2), 4, "a box has {0} coordinates, expected {1}");
  return n.reshape(boxes, {n.dim(scores, 0), n.dim(scores, 2), DimExpr(4)});
}

// One row (image, class, box) for each of the first counts[image, class] entries of selected[image,
// class].
Value selected_rows(Node& n, Value selected, Value counts) {
  Value place = iota(n, n.dim(selected, 2), DType::kI64);
  Value taken = nonzero(n, n.emit<LessOp>({place, n.unsqueeze(counts, {2})}));
  if (n.has_failed()) return {};
  Value at = n.transpose(taken, {1, 0});
  DimExpr count = n.dim(at, 0);
  Value boxes = n.emit<GatherNdOp>({selected, at}, {n.attr("batch_dims", int64_t{0})});
  Value of = n.slice(at, {DimExpr(0), DimExpr(0)}, {count, DimExpr(2)});
  return n.concat({of, n.unsqueeze(boxes, {1})}, 1);
}

Values non_max_suppression(Node& n) {
  Value scores = n.input(1), boxes = boxes_like(n, n.input(0), scores);
  Dims limit = n.has_input(2)
                   ? n.dims_of(n.input(2), "max_output_boxes_per_class", Node::Sign::kAny)
                   : Dims{DimExpr(0)};
  if (n.has_failed()) return Value();
  if (limit.size() != 1)
    return n.fail("max_output_boxes_per_class must have 1 element, given " +
                  llvm::Twine(limit.size()));
  Dims most = {max(limit[0], 0)};
  mlir::Operation* ranked = n.emit(
      TopKOp::getOperationName(), {scores},
      // Top-k with k = n is a sort: greedy suppression visits the boxes by descending score.
      {n.attr("k", Dims{n.dim(scores, 2)}), n.attr("axis", int64_t{2}), n.attr("largest", true)});
  if (!ranked) return Value();
  Value iou = threshold(n, 3, 0), least = threshold(n, 4, -std::numeric_limits<double>::infinity());
  mlir::Operation* kept =
      n.emit(SuppressBoxesOp::getOperationName(),
             {boxes, ranked->getResult(0), ranked->getResult(1), iou, least},
             {n.attr("limit", most), n.attr("centered", n.flag("center_point_box", false))});
  return kept ? selected_rows(n, kept->getResult(0), kept->getResult(1)) : Value();
}

Values top_k(Node& n, const Dims& k) {
  Value x = n.input(0);
  if (k.size() != 1) return n.fail("k must have 1 element, given " + llvm::Twine(k.size()));
  int64_t axis = n.axis(n.integer("axis", -1), n.rank(x));
  n.require_at_least(n.dim(x, axis), k[0], "k is {1}, above the {0} elements along its axis");
  mlir::Operation* op =
      n.emit(TopKOp::getOperationName(), {x},
             {n.attr("k", k), n.attr("axis", axis), n.attr("largest", n.flag("largest", true))});
  if (!op) return Value();
  return {op->getResult(0), op->getResult(1)};
}

Values top_k_with_attribute(Node& n) { return top_k(n, {DimExpr(n.integer("k"))}); }
Values top_k(Node& n) { return top_k(n, n.dims_of(n.input(1), "k")); }

}  // namespace

const OpRows kSelectionOps = {
    {"Compress", 9, compress},         {"NonMaxSuppression", 10, non_max_suppression},
    {"NonZero", 9, nonzero},           {"Unique", 11, unique},
    {"TopK", 1, top_k_with_attribute}, {"TopK", 10, top_k},
};

}  // namespace scopevm::compiler::frontend
