// ONNX ConcatFromSequence. A sequence of known length is one sv.concat, any other one a loop.
#include "compiler/import/node/formula.h"
#include "compiler/import/ops/op_table.h"
#include "compiler/import/ops/sequence/sequence.h"

namespace scopevm::compiler::frontend {
namespace {

// Element i of the list, checked to have the dims of `first` except along `axis`. Null after an
// error.
Value alike_element(Node& n, Value list, DimExpr i, Value first, int64_t axis) {
  Value element = n.checked(n.lists().get(list, i));
  if (n.has_failed()) return {};
  Dims dims(n.shape(first));
  for (int64_t k = 0; k < n.rank(first); ++k) {
    if (k == axis)
      dims[k] = n.dim(element, k);
    else
      n.require_equal(n.dim(element, k), dims[k],
                      "dim " + std::to_string(k) +
                          " of an element of the sequence is {0}, expected {1}, that of the first "
                          "element");
  }
  return n.reshape(element, dims);
}

// The result is the gathered output of a loop over the elements.
Value stack_list(Node& n, Value list, DimExpr count, Value first, int64_t axis) {
  auto parts = n.loop(count, {}, [&](DimExpr i, mlir::ValueRange) -> Iteration {
    return {{}, {}, {alike_element(n, list, i, first, -1)}};
  });
  return n.has_failed() ? Value() : n.move_axis(parts.front(), 0, axis);
}

// One loop sums the lengths, and a second one copies each element to its offset.
Value concat_list(Node& n, Value list, DimExpr count, Value first, int64_t axis) {
  Value zero = n.dims_value({0}, true);
  // The result's length must be known before its storage is allocated.
  auto sum = n.loop(count, {zero}, [&](DimExpr i, mlir::ValueRange carried) -> Iteration {
    Value part = alike_element(n, list, i, first, axis);
    if (n.has_failed()) return {};
    Value size = n.dims_value({n.dim(part, axis)}, true);
    return {{}, {n.emit<graph::AddOp>({carried[0], size})}, {}};
  });
  if (n.has_failed()) return {};
  Dims whole(n.shape(first));
  whole.erase(whole.begin() + axis);
  // While the result is filled, the axis of the concatenation is its first axis. An element of the
  // list then consists of whole rows, which ScatterND copies by their indices.
  whole.insert(whole.begin(), n.dims_of(sum.front(), "the length of the result").front());
  Value empty = n.expand(n.scalar(0, first), whole);
  auto filled = n.loop(count, {empty, zero}, [&](DimExpr i, mlir::ValueRange carried) -> Iteration {
    Value part = alike_element(n, list, i, first, axis);
    if (n.has_failed()) return {};
    DimExpr size = n.dim(part, axis);
    Formula places = iota(n, size, DType::kI64) + Formula(n, carried[1]);
    places = places.unsqueeze({1});
    Value next = n.emit<graph::ScatterNdOp>({carried[0], places, n.move_axis(part, axis, 0)});
    Value at = n.emit<graph::AddOp>({carried[1], n.dims_value({size}, true)});
    return {{}, {next, at}, {}};
  });
  return n.has_failed() ? Value() : n.move_axis(filled.front(), 0, axis);
}

Value concat_elements(Node& n, mlir::OperandRange elements, bool has_new_axis) {
  if (elements.empty()) return n.fail("the sequence is empty");
  const int64_t rank = n.rank(elements.front()) + (has_new_axis ? 1 : 0);
  const int64_t axis = n.axis(n.integer("axis"), rank);
  llvm::SmallVector<Value> parts;
  for (Value part : elements) parts.push_back(has_new_axis ? n.unsqueeze(part, {axis}) : part);
  return n.concat(parts, axis);
}

Values concat_from_sequence(Node& n) {
  Value list = input_sequence(n);
  const bool has_new_axis = n.flag("new_axis", false);
  if (n.has_failed()) return {};
  if (const auto elements = elements_of(list)) return concat_elements(n, *elements, has_new_axis);
  const DimExpr count = n.lists().size(list);
  Value first = n.checked(n.lists().get(list, 0));
  const int64_t axis = n.axis(n.integer("axis"), n.rank(first) + (has_new_axis ? 1 : 0));
  if (n.has_failed()) return {};
  return has_new_axis ? stack_list(n, list, count, first, axis)
                      : concat_list(n, list, count, first, axis);
}

}  // namespace

const OpRows kConcatOps = {
    {"ConcatFromSequence", 1, concat_from_sequence, std::nullopt, /*takes_lists=*/true}};

}  // namespace scopevm::compiler::frontend
