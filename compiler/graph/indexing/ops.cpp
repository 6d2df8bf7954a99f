// Ops that read or write elements at indices: generated definitions, type rules, request checks.
#include "compiler/dims/dim_text.h"
#include "compiler/graph/diagnostics/request_checks.h"
#include "compiler/graph/graph_ops.h"
#include "compiler/graph/parallel/parallel_axes.h"
#include "compiler/graph/type_rule.h"

// Included last: the generated definitions use the declarations above.
#define GET_OP_CLASSES
#include "compiler/graph/indexing/ops.cpp.inc"

namespace scopevm::compiler::graph {

namespace {

using Shape = llvm::SmallVector<DimExpr>;

llvm::LogicalResult check_reduction(TypeRule& rule, TensorType x, ScatterReduction reduction) {
  if (x.getDtype() != DType::kStr || reduction == ScatterReduction::kNone) return mlir::success();
  return rule.fail("reduction " + stringifyScatterReduction(reduction) +
                   " requires a numeric x, but x is " + text_of(x));
}

// Verifies that `type` has the rank of x. `what` is the name of the operand in the message.
llvm::LogicalResult check_same_rank(TypeRule& rule, TensorType x, TensorType type,
                                    llvm::StringRef what) {
  if (type.getRank() == x.getRank()) return mlir::success();
  return rule.fail(what + " must have the rank of x, but x is " + text_of(x) + " and " + what +
                   " " + text_of(type));
}

// Checks the last dim of `indices`. It is the length of an index tuple, that is, the number of axes
// of x that a tuple addresses. The first `batch` axes of x are not addressed.
llvm::LogicalResult check_depth(TypeRule& rule, TensorType x, TensorType indices, int64_t batch) {
  std::optional<int64_t> depth = indices.getShape().back().as_constant();
  if (depth && *depth >= 1 && batch + *depth <= x.getRank()) return mlir::success();
  return rule.fail("the last dim of indices must be a constant from 1 to " +
                   llvm::Twine(x.getRank() - batch) + ", but x is " + text_of(x) +
                   " and indices are " + text_of(indices));
}

llvm::LogicalResult check_block(TypeRule& rule, int64_t block) {
  if (block >= 1 && block <= (1 << 20)) return mlir::success();
  return rule.fail("block is " + llvm::Twine(block) + ", expected 1 to 1048576");
}

DimExpr block_count(TensorType x, int64_t block) { return ceildiv(x.getElementCount(), block); }

// Requires an element along `axis` if there are indices, because gather kernels clamp out-of-range
// indices to the axis.
void check_not_empty(mlir::Value x, int64_t axis, mlir::Value indices, RequestChecks& checks) {
  CheckedDim dim = dim_of(x, axis);
  // The minimum is 0 without indices, else 1.
  checks.require_at_least(dim, {min(tensor_type(indices).getElementCount(), 1), nullptr, ""},
                          dim.what + " is {0}: no index is valid for an empty axis");
}

// Each dim of `indices` must be at most that of `x`, except along the axis `along`. If there are
// indices, that axis of `x` must not be empty.
void check_along(mlir::Value indices, mlir::Value x, int64_t along, RequestChecks& checks) {
  for (int64_t axis = 0; axis < tensor_type(x).getRank(); ++axis)
    if (axis != along) checks.require_at_most(dim_of(indices, axis), dim_of(x, axis));
  check_not_empty(x, along, indices, checks);
}

}  // namespace

llvm::LogicalResult GatherOp::infer(TypeRule& rule, Adaptor op) {
  TensorType x = tensor_type(op.getX()), indices = tensor_type(op.getIndices());
  int64_t axis = op.getAxis();
  if (failed(check_axis(rule, x, axis))) return mlir::failure();
  Shape shape(x.getShape().take_front(axis));
  shape.append(indices.getShape().begin(), indices.getShape().end());
  shape.append(x.getShape().begin() + axis + 1, x.getShape().end());
  return rule.add_result(x.getDtype(), shape);
}

ParallelAxes GatherOp::getParallelAxes() {
  const auto axis = static_cast<int64_t>(getAxis());
  const int64_t rank = tensor_type(getIndices()).getRank();
  constexpr int64_t kWhole = ParallelAxis::kWhole;
  ParallelAxes axes;
  for (int64_t i = 0; i < tensor_type(getX()).getRank(); ++i)
    if (i != axis) axes.push_back({{i, kWhole}, {i < axis ? i : i - 1 + rank}});
  for (int64_t i = 0; i < rank; ++i) axes.push_back({{kWhole, i}, {axis + i}});
  return axes;
}

void GatherOp::addRequestChecks(RequestChecks& checks) {
  check_not_empty(getX(), static_cast<int64_t>(getAxis()), getIndices(), checks);
}

llvm::LogicalResult GatherElementsOp::infer(TypeRule& rule, Adaptor op) {
  TensorType x = tensor_type(op.getX()), indices = tensor_type(op.getIndices());
  if (failed(check_axis(rule, x, op.getAxis())) ||
      failed(check_same_rank(rule, x, indices, "indices")))
    return mlir::failure();
  return rule.add_result(x.getDtype(), indices.getShape());
}

void GatherElementsOp::addRequestChecks(RequestChecks& checks) {
  check_along(getIndices(), getX(), static_cast<int64_t>(getAxis()), checks);
}

llvm::LogicalResult GatherNdOp::infer(TypeRule& rule, Adaptor op) {
  TensorType x = tensor_type(op.getX()), indices = tensor_type(op.getIndices());
  int64_t batch = op.getBatchDims();
  if (indices.getRank() < 1 || batch < 0 || batch >= indices.getRank() || batch > x.getRank())
    return rule.fail("batch_dims is " + llvm::Twine(batch) +
                     ", expected at least 0, less than the rank of indices, and at most the rank "
                     "of x, but indices are " +
                     text_of(indices) + " and x is " + text_of(x));
  if (failed(check_depth(rule, x, indices, batch))) return mlir::failure();
  std::optional<int64_t> depth = indices.getShape().back().as_constant();
  Shape shape(indices.getShape().drop_back());
  shape.append(x.getShape().begin() + batch + *depth, x.getShape().end());
  return rule.add_result(x.getDtype(), shape);
}

ParallelAxes GatherNdOp::getParallelAxes() {
  const TensorType x = tensor_type(getX()), indices = tensor_type(getIndices());
  const auto batch = static_cast<int64_t>(getBatchDims());
  const int64_t tuples = indices.getRank() - 1;
  const int64_t addressed = batch + indices.getShape().back().as_constant().value_or(0);
  constexpr int64_t kWhole = ParallelAxis::kWhole;
  ParallelAxes axes;
  for (int64_t i = 0; i < batch; ++i)
    if (x.getDim(i) == indices.getDim(i)) axes.push_back({{i, i}, {i}});
  for (int64_t i = batch; i < tuples; ++i) axes.push_back({{kWhole, i}, {i}});
  for (int64_t i = addressed; i < x.getRank(); ++i)
    axes.push_back({{i, kWhole}, {tuples + i - addressed}});
  return axes;
}

void GatherNdOp::addRequestChecks(RequestChecks& checks) {
  for (int64_t axis = 0; axis < static_cast<int64_t>(getBatchDims()); ++axis)
    checks.require_equal(dim_of(getIndices(), axis), dim_of(getX(), axis));
  auto batch = static_cast<int64_t>(getBatchDims());
  std::optional<int64_t> depth = tensor_type(getIndices()).getShape().back().as_constant();
  for (int64_t axis = batch; depth && axis < batch + *depth; ++axis)
    check_not_empty(getX(), axis, getIndices(), checks);
}

llvm::LogicalResult ScatterElementsOp::infer(TypeRule& rule, Adaptor op) {
  TensorType x = tensor_type(op.getX()), indices = tensor_type(op.getIndices());
  TensorType updates = tensor_type(op.getUpdates());
  if (failed(check_axis(rule, x, op.getAxis())) ||
      failed(check_same_rank(rule, x, indices, "indices")) ||
      failed(check_same_rank(rule, x, updates, "updates")))
    return mlir::failure();
  if (updates.getDtype() != x.getDtype())
    return rule.fail("updates must have the element type of x, but x is " + text_of(x) +
                     " and updates " + text_of(updates));
  if (failed(check_reduction(rule, x, op.getReduction()))) return mlir::failure();
  return infer_same(rule, op.getX());
}

void ScatterElementsOp::addRequestChecks(RequestChecks& checks) {
  check_along(getIndices(), getX(), static_cast<int64_t>(getAxis()), checks);
  for (int64_t axis = 0; axis < tensor_type(getUpdates()).getRank(); ++axis)
    checks.require_equal(dim_of(getUpdates(), axis), dim_of(getIndices(), axis));
}

llvm::LogicalResult ScatterNdOp::infer(TypeRule& rule, Adaptor op) {
  TensorType x = tensor_type(op.getX()), indices = tensor_type(op.getIndices());
  TensorType updates = tensor_type(op.getUpdates());
  if (indices.getRank() < 1)
    return rule.fail("indices must have rank 1 or more, but are " + text_of(indices));
  if (failed(check_depth(rule, x, indices, 0))) return mlir::failure();
  std::optional<int64_t> depth = indices.getShape().back().as_constant();
  int64_t rank = indices.getRank() - 1 + x.getRank() - *depth;
  if (updates.getRank() != rank || updates.getDtype() != x.getDtype())
    return rule.fail("updates must have element type " + std::string(name(x.getDtype())) +
                     " and rank " + llvm::Twine(rank) + ", but are " + text_of(updates));
  if (failed(check_reduction(rule, x, op.getReduction()))) return mlir::failure();
  return infer_same(rule, op.getX());
}

// The first dims of `updates` must be those of `indices` without the last one. The other dims must
// be those of x that an index tuple does not address.
void ScatterNdOp::addRequestChecks(RequestChecks& checks) {
  TensorType indices = tensor_type(getIndices());
  int64_t outer = indices.getRank() - 1;
  std::optional<int64_t> depth = indices.getShape().back().as_constant();
  for (int64_t axis = 0; axis < tensor_type(getUpdates()).getRank(); ++axis)
    if (axis < outer)
      checks.require_equal(dim_of(getUpdates(), axis), dim_of(getIndices(), axis));
    else
      checks.require_equal(dim_of(getUpdates(), axis), dim_of(getX(), axis - outer + *depth));
}

llvm::LogicalResult OneHotOp::infer(TypeRule& rule, Adaptor op) {
  TensorType indices = tensor_type(op.getIndices());
  int64_t axis = op.getAxis();
  if (failed(rule.check_count(op.getDepth().getValue().size(), "depth", 1))) return mlir::failure();
  if (axis < 0 || axis > indices.getRank())
    return rule.fail("axis " + llvm::Twine(axis) + " is out of range for a result of rank " +
                     llvm::Twine(indices.getRank() + 1));
  // The kernel reads both elements, so their number must be known here.
  TensorType values = tensor_type(op.getValues());
  if (values.getRank() != 1 || !values.getDim(0).is_constant(2))
    return rule.fail("values must have 2 elements, off and on, but is " + text_of(values));
  Shape shape(indices.getShape());
  shape.insert(shape.begin() + axis, op.getDepth().getValue().front());
  return rule.add_result(tensor_type(op.getValues()).getDtype(), shape);
}

ParallelAxes OneHotOp::getParallelAxes() {
  const auto axis = static_cast<int64_t>(getAxis());
  ParallelAxes axes;
  for (int64_t i = 0; i < tensor_type(getIndices()).getRank(); ++i)
    axes.push_back({{i, ParallelAxis::kWhole}, {i < axis ? i : i + 1}});
  return axes;
}

llvm::LogicalResult CountNonzeroOp::infer(TypeRule& rule, Adaptor op) {
  auto block = static_cast<int64_t>(op.getBlock());
  if (failed(check_block(rule, block))) return mlir::failure();
  (void)rule.add_result(DType::kI64, {block_count(tensor_type(op.getX()), block)});
  return rule.add_result(DType::kI64, {DimExpr(1)});
}

llvm::LogicalResult NonzeroOp::infer(TypeRule& rule, Adaptor op) {
  TensorType x = tensor_type(op.getX()), starts = tensor_type(op.getStarts());
  auto block = static_cast<int64_t>(op.getBlock());
  if (failed(check_block(rule, block)) ||
      failed(rule.check_count(op.getCount().getValue().size(), "count", 1)))
    return mlir::failure();
  DimExpr blocks = block_count(x, block);
  if (starts.getDtype() != DType::kI64 || starts.getRank() != 1 || starts.getDim(0) != blocks)
    return rule.fail("starts must be i64[" + short_text(blocks) +
                     "], one for each block of x, but are " + text_of(starts));
  return rule.add_result(DType::kI64, {DimExpr(x.getRank()), op.getCount().getValue().front()});
}

namespace {

// Fails unless the table `what` has this element type and rank 1, with `count` elements. If `count`
// is 0, with any constant number of elements from 1 on.
llvm::LogicalResult check_table(TypeRule& rule, const char* what, mlir::Value table, DType dtype,
                                int64_t count = 0) {
  constexpr int64_t kMost = int64_t{1} << 31;
  const TensorType type = tensor_type(table);
  const std::optional<int64_t> size =
      type.getRank() == 1 ? type.getDim(0).as_constant() : std::nullopt;
  if (type.getDtype() == dtype && size && *size >= 1 && *size < kMost &&
      (count == 0 || *size == count))
    return mlir::success();
  const std::string wanted = count == 0 ? "a constant number of" : std::to_string(count);
  return rule.fail(llvm::Twine(what) + " must be " + std::string(name(dtype)) + " of rank 1 with " +
                   wanted + " elements, but are " + text_of(type));
}

}  // namespace

llvm::LogicalResult TreeScoresOp::infer(TypeRule& rule, Adaptor op) {
  const TensorType x = tensor_type(op.getX());
  if (x.getRank() != 2 || (x.getDtype() != DType::kF32 && x.getDtype() != DType::kF64))
    return rule.fail("x must be f32 or f64 of rank 2, but is " + text_of(x));
  if (failed(check_table(rule, "nodes", op.getNodes(), DType::kI32)) ||
      failed(check_table(rule, "roots", op.getRoots(), DType::kI32)) ||
      failed(check_table(rule, "weights", op.getWeights(), x.getDtype())))
    return mlir::failure();
  const int64_t nodes = *tensor_type(op.getNodes()).getDim(0).as_constant();
  const int64_t trees = *tensor_type(op.getRoots()).getDim(0).as_constant();
  const int64_t weights = *tensor_type(op.getWeights()).getDim(0).as_constant();
  const auto width = static_cast<int64_t>(op.getWidth());
  if (failed(check_table(rule, "depths", op.getDepths(), DType::kI32, trees)))
    return mlir::failure();
  if (nodes % recordSize(x.getDtype()) != 0)
    return rule.fail("nodes has " + llvm::Twine(nodes) + " elements, expected a multiple of " +
                     llvm::Twine(recordSize(x.getDtype())));
  if (width < 1 || width > (int64_t{1} << 31))
    return rule.fail("width is " + llvm::Twine(width) + ", expected 1 to 2147483648");
  if (op.getEntries().empty()) {
    if (op.getCombine() != TreeScore::kSum)
      return rule.fail("entries are required unless the weights are summed");
    if (weights % width != 0)
      return rule.fail("weights has " + llvm::Twine(weights) +
                       " elements, expected a multiple of " + llvm::Twine(width) +
                       ", one for each column of each leaf");
  } else {
    if (failed(rule.check_count(op.getEntries().size(), "table of entries", 2)) ||
        failed(check_table(rule, "starts", op.getEntries()[0], DType::kI32)) ||
        failed(check_table(rule, "columns", op.getEntries()[1], DType::kI32, weights)))
      return mlir::failure();
  }
  return rule.add_result(x.getDtype(), {x.getDim(0), DimExpr(width)});
}

}  // namespace scopevm::compiler::graph
