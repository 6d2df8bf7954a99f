// Ops that move elements, and constants: generated definitions, type rules, request checks.
#include "compiler/dims/dim_text.h"
#include "compiler/graph/diagnostics/dim_trace.h"
#include "compiler/graph/diagnostics/request_checks.h"
#include "compiler/graph/graph_ops.h"
#include "compiler/graph/parallel/parallel_axes.h"
#include "compiler/graph/type_rule.h"
#include "compiler/graph/values/elements.h"

// Included last: the generated definitions use the declarations above.
#define GET_OP_CLASSES
#include "compiler/graph/layout/ops.cpp.inc"

namespace scopevm::compiler::graph {

namespace {

using Shape = llvm::SmallVector<DimExpr>;

// The largest magnitude of a slice's step and of a diagonal's number. It keeps sums with indices
// far from overflow.
constexpr int64_t kMaxDistance = int64_t{1} << 40;

std::string text_of(llvm::ArrayRef<int64_t> values) {
  std::string text;
  for (int64_t value : values) text += (text.empty() ? "" : ", ") + std::to_string(value);
  return "[" + text + "]";
}

}  // namespace

llvm::LogicalResult TransposeOp::infer(TypeRule& rule, Adaptor op) {
  TensorType x = tensor_type(op.getX());
  llvm::SmallVector<bool> seen(x.getRank(), false);
  Shape shape;
  auto fail = [&] {
    return rule.fail("permutation " + text_of(op.getPermutation()) +
                     " must contain each axis of x once, but x is " + text_of(x));
  };
  for (int64_t axis : op.getPermutation()) {
    if (!is_axis(x, axis) || seen[axis]) return fail();
    seen[axis] = true;
    shape.push_back(x.getDim(axis));
  }
  if (static_cast<int64_t>(shape.size()) != x.getRank()) return fail();
  return rule.add_result(x.getDtype(), shape);
}

ParallelAxes TransposeOp::getParallelAxes() {
  ParallelAxes axes;
  for (const auto [result, axis] : llvm::enumerate(getPermutation()))
    axes.push_back({{axis}, {static_cast<int64_t>(result)}});
  return axes;
}

llvm::LogicalResult ReshapeOp::infer(TypeRule& rule, Adaptor op) {
  TensorType x = tensor_type(op.getX());
  llvm::ArrayRef<DimExpr> dims = op.getDims().getValue();
  if (!may_be_equal(x.getElementCount(), element_count(dims)))
    return rule.fail("cannot reshape " + text_of(x) + " to " + text_of(x.withShape(dims)) +
                     ": the element counts differ");
  return rule.add_result(x.getDtype(), dims);
}

void ReshapeOp::addRequestChecks(RequestChecks& checks) {
  checks.require_equal(
      {tensor_type(getX()).getElementCount(), getX(),
       "the element count of " + DimTrace::name(getX())},
      {tensor_type(getResult()).getElementCount(), getX(), "the element count of the new shape"});
}

llvm::LogicalResult ExpandOp::infer(TypeRule& rule, Adaptor op) {
  TensorType x = tensor_type(op.getX());
  auto shape = broadcast_shapes(x.getShape(), op.getDims().getValue());
  if (!shape)
    return rule.fail(text_of(x) + " does not broadcast to " +
                     text_of(x.withShape(op.getDims().getValue())));
  return rule.add_result(x.getDtype(), *shape);
}

void ExpandOp::addRequestChecks(RequestChecks& checks) {
  llvm::ArrayRef<DimExpr> dims = getDims().getValue();
  int64_t x = tensor_type(getX()).getRank(), rank = static_cast<int64_t>(dims.size());
  for (int64_t k = 1; k <= std::min(x, rank); ++k)
    checks.require_broadcastable(
        dim_of(getX(), x - k), {dims[rank - k], getX(), "the new dim " + std::to_string(rank - k)});
}

llvm::LogicalResult TriluOp::infer(TypeRule& rule, Adaptor op) {
  if (tensor_type(op.getX()).getRank() < 2)
    return rule.fail("x must have rank 2 or more, but is " + text_of(op.getX().getType()));
  if (const auto k = static_cast<int64_t>(op.getK()); k < -kMaxDistance || k > kMaxDistance)
    return rule.fail("k is " + llvm::Twine(k) + ", expected " + llvm::Twine(-kMaxDistance) +
                     " to " + llvm::Twine(kMaxDistance));
  return infer_same(rule, op.getX());
}

llvm::LogicalResult TileOp::infer(TypeRule& rule, Adaptor op) {
  TensorType x = tensor_type(op.getX());
  llvm::ArrayRef<DimExpr> repeats = op.getRepeats().getValue();
  if (failed(rule.check_count(repeats.size(), "repeat", static_cast<size_t>(x.getRank()),
                              " for " + text_of(x))))
    return mlir::failure();
  Shape shape;
  for (int64_t i = 0; i < x.getRank(); ++i) {
    if (interval_of(repeats[i]).max < 0)
      return rule.fail("repeat " + llvm::Twine(i) + " is " + short_text(repeats[i]) +
                       ", expected at least 0");
    shape.push_back(x.getDim(i) * repeats[i]);
  }
  return rule.add_result(x.getDtype(), shape);
}

ParallelAxes TileOp::getParallelAxes() {
  const TensorType x = tensor_type(getX());
  ParallelAxes axes;
  for (const auto [i, repeats] : llvm::enumerate(getRepeats().getValue())) {
    const auto axis = static_cast<int64_t>(i);
    if (repeats.is_constant(1))
      axes.push_back({{axis}, {axis}});
    else if (x.getDim(axis).is_constant(1))
      axes.push_back({{ParallelAxis::kWhole}, {axis}});
  }
  return axes;
}

llvm::LogicalResult ConcatOp::infer(TypeRule& rule, Adaptor op) {
  mlir::ValueRange operands = op.getOperands();
  auto axis = static_cast<int64_t>(op.getAxis());
  if (operands.empty()) return rule.fail("expected at least 1 operand, given 0");
  TensorType first = tensor_type(operands.front());
  if (failed(check_axis(rule, first, axis))) return mlir::failure();
  Shape shape(first.getShape());
  for (mlir::Value operand : operands.drop_front()) {
    TensorType next = tensor_type(operand);
    if (next.getRank() != first.getRank() || next.getDtype() != first.getDtype())
      return rule.fail("operands " + text_of(first) + " and " + text_of(next) + " differ in " +
                       (next.getRank() != first.getRank() ? "rank" : "element type"));
    for (int64_t i = 0; i < first.getRank(); ++i) {
      if (i == axis)
        shape[i] = shape[i] + next.getDim(i);
      else if (!may_be_equal(shape[i], next.getDim(i)))
        return rule.fail("operands " + text_of(first) + " and " + text_of(next) +
                         " differ in dim " + llvm::Twine(i) + "; all dims except axis " +
                         llvm::Twine(axis) + " must be equal");
      // A request check ensures that the dims are equal, so a constant replaces a symbol.
      else if (next.getDim(i).is_constant())
        shape[i] = next.getDim(i);
    }
  }
  return rule.add_result(first.getDtype(), shape);
}

void ConcatOp::addRequestChecks(RequestChecks& checks) {
  mlir::Value first = getInputs().front();
  for (mlir::Value input : getInputs().drop_front())
    for (int64_t axis = 0; axis < tensor_type(first).getRank(); ++axis)
      if (axis != static_cast<int64_t>(getAxis()))
        checks.require_equal(dim_of(input, axis), dim_of(first, axis));
}

llvm::LogicalResult SliceOp::infer(TypeRule& rule, Adaptor op) {
  TensorType x = tensor_type(op.getX());
  size_t rank = x.getRank();
  for (auto [noun, count] : {std::pair("start", op.getStarts().getValue().size()),
                             {"size", op.getSizes().getValue().size()},
                             {"step", op.getSteps().size()}})
    if (failed(rule.check_count(count, noun, rank, " for " + text_of(x)))) return mlir::failure();
  if (llvm::any_of(op.getSteps(),
                   [&](int64_t s) { return s == 0 || s < -kMaxDistance || s > kMaxDistance; }))
    return rule.fail("steps are " + text_of(op.getSteps()) + ", expected " +
                     llvm::Twine(-kMaxDistance) + " to " + llvm::Twine(kMaxDistance) +
                     " without 0");
  return rule.add_result(x.getDtype(), op.getSizes().getValue());
}

ParallelAxes SliceOp::getParallelAxes() {
  const TensorType x = tensor_type(getX());
  ParallelAxes axes;
  for (int64_t axis = 0; axis < x.getRank(); ++axis)
    if (getStarts().getValue()[axis].is_constant(0) && getSteps()[axis] == 1 &&
        getSizes().getValue()[axis] == x.getDim(axis))
      axes.push_back({{axis}, {axis}});
  return axes;
}

// The first and last elements of the slice must be inside x.
void SliceOp::addRequestChecks(RequestChecks& checks) {
  for (int64_t axis = 0; axis < tensor_type(getX()).getRank(); ++axis) {
    DimExpr start = getStarts().getValue()[axis], size = getSizes().getValue()[axis];
    int64_t step = getSteps()[axis];
    DimExpr last = start + (size - 1) * DimExpr(step);
    CheckedDim dim = dim_of(getX(), axis);
    std::string at = "axis " + std::to_string(axis) + ": ";
    // With a negative step, the last element is the lowest.
    CheckedDim low{step > 0 ? start : last, getX(), ""};
    CheckedDim high{(step > 0 ? last : start) + 1, getX(), ""};
    checks.require_at_least(low, {0, nullptr, ""},
                            at + "the slice begins at {0}, before the first element");
    checks.require_at_least(dim, high, at + "the slice ends at {1}, but " + dim.what + " is {0}");
  }
}

llvm::LogicalResult InsertSliceOp::infer(TypeRule& rule, Adaptor op) {
  TensorType x = tensor_type(op.getX()), part = tensor_type(op.getPart());
  const auto axis = static_cast<int64_t>(op.getAxis());
  if (failed(check_axis(rule, x, axis)) || failed(check_same_dtype(rule, op.getOperands())) ||
      failed(rule.check_count(op.getStart().getValue().size(), "start", 1)))
    return mlir::failure();
  bool matches = part.getRank() == x.getRank();
  for (int64_t i = 0; matches && i < x.getRank(); ++i)
    matches = i == axis || may_be_equal(part.getDim(i), x.getDim(i));
  if (!matches)
    return rule.fail(text_of(part) + " cannot be a part of " + text_of(x) + " along axis " +
                     llvm::Twine(axis));
  return rule.add_result(x.getDtype(), x.getShape());
}

void InsertSliceOp::addRequestChecks(RequestChecks& checks) {
  const auto axis = static_cast<int64_t>(getAxis());
  for (int64_t i = 0; i < tensor_type(getX()).getRank(); ++i)
    if (i != axis) checks.require_equal(dim_of(getPart(), i), dim_of(getX(), i));
  const DimExpr start = getStart().getValue().front();
  const CheckedDim dim = dim_of(getX(), axis);
  checks.require_at_least({start, getPart(), ""}, {0, nullptr, ""},
                          "the part begins at {0}, before the first element");
  checks.require_at_least(dim, {start + tensor_type(getPart()).getDim(axis), getPart(), ""},
                          dim.what + " is {0}, expected at least {1}");
}

llvm::LogicalResult PadOp::infer(TypeRule& rule, Adaptor op) {
  TensorType x = tensor_type(op.getX());
  llvm::ArrayRef<DimExpr> pads = op.getPads().getValue();
  if (failed(rule.check_count(pads.size(), "pad", static_cast<size_t>(2 * x.getRank()),
                              ", two for each axis of " + text_of(x))))
    return mlir::failure();
  Shape shape;
  for (int64_t i = 0; i < x.getRank(); ++i)
    shape.push_back(x.getDim(i) + pads[i] + pads[x.getRank() + i]);
  return rule.add_result(x.getDtype(), shape);
}

ParallelAxes PadOp::getParallelAxes() {
  const int64_t rank = tensor_type(getX()).getRank();
  llvm::SmallVector<int64_t> padded;
  for (const auto [i, pad] : llvm::enumerate(getPads().getValue()))
    if (!pad.is_constant(0)) padded.push_back(static_cast<int64_t>(i) % rank);
  return equal_axes(*this, padded);
}

// Without a value, a constant border is 0.
bool PadOp::selectsElements() { return getMode() != PadMode::kConstant || getValue(); }

// Reflection must stay inside x, and edge padding needs an element to repeat. Neither is required
// if nothing is padded.
void PadOp::addRequestChecks(RequestChecks& checks) {
  if (getMode() == PadMode::kConstant) return;
  int64_t rank = tensor_type(getX()).getRank();
  for (int64_t i = 0; i < 2 * rank; ++i) {
    DimExpr pad = getPads().getValue()[i];
    if (pad.is_constant(0)) continue;
    CheckedDim dim = dim_of(getX(), i % rank);
    // min(pad, 1) is 1 with padding, and at most 0 otherwise. Reflection skips the edge element, so
    // it needs pad + 1 elements.
    DimExpr least = min(pad, 1) + (getMode() == PadMode::kReflect ? pad : DimExpr(0));
    checks.require_at_least(dim, {least, nullptr, ""},
                            dim.what + " is {0}, but " + stringifyPadMode(getMode()).str() +
                                " padding of " + pad.str() + " requires at least {1}");
  }
}

llvm::LogicalResult DiagonalOp::infer(TypeRule& rule, Adaptor op) {
  TensorType x = tensor_type(op.getX());
  auto first = static_cast<int64_t>(op.getFirst()), second = static_cast<int64_t>(op.getSecond());
  if (!is_axis(x, first) || !is_axis(x, second) || first == second)
    return rule.fail("axes " + llvm::Twine(first) + " and " + llvm::Twine(second) +
                     " must be two different axes of " + text_of(x));
  if (!may_be_equal(x.getDim(first), x.getDim(second)))
    return rule.fail("dims " + llvm::Twine(first) + " and " + llvm::Twine(second) + " of " +
                     text_of(x) + " must be equal");
  Shape shape(x.getShape());
  shape.erase(shape.begin() + second);
  return rule.add_result(x.getDtype(), shape);
}

ParallelAxes DiagonalOp::getParallelAxes() {
  const auto first = static_cast<int64_t>(getFirst()), second = static_cast<int64_t>(getSecond());
  ParallelAxes axes;
  for (int64_t axis = 0; axis < tensor_type(getX()).getRank(); ++axis)
    if (axis != first && axis != second) axes.push_back({{axis}, {axis - (axis > second ? 1 : 0)}});
  return axes;
}

void DiagonalOp::addRequestChecks(RequestChecks& checks) {
  checks.require_equal(dim_of(getX(), static_cast<int64_t>(getFirst())),
                       dim_of(getX(), static_cast<int64_t>(getSecond())));
}

llvm::LogicalResult ConstantOp::infer(TypeRule& rule, Adaptor op) {
  if (std::string error = error_of_elements(op.getValue()); !error.empty()) return rule.fail(error);
  std::optional<DType> dtype = dtype_of(op.getValue().getElementType());
  if (!dtype)
    return rule.fail("element type " + text_of(op.getValue().getElementType()) +
                     " is not supported");
  Shape shape;
  for (int64_t dim : op.getValue().getShapedType().getShape()) shape.push_back(dim);
  return rule.add_result(*dtype, shape);
}

llvm::LogicalResult DimsTensorOp::infer(TypeRule& rule, Adaptor op) {
  llvm::ArrayRef<DimExpr> dims = op.getDims().getValue();
  std::optional<DType> dtype = computed_dtype(op.getDtype());
  if (!dtype || dtype == DType::kStr)
    return rule.fail("\"" + op.getDtype() + "\" is not a numeric element type");
  if (op.getScalar() && failed(rule.check_count(dims.size(), "dim", 1, " for a scalar")))
    return mlir::failure();
  Shape shape;
  if (!op.getScalar()) shape.push_back(static_cast<int64_t>(dims.size()));
  return rule.add_result(*dtype, shape);
}

llvm::LogicalResult PackBitsOp::infer(TypeRule& rule, Adaptor op) {
  const TensorType x = tensor_type(op.getX());
  const std::optional<DType> to = parse_dtype(op.getTo());
  if (x.getDtype() != DType::kU8) return rule.fail("x is " + text_of(x) + ", expected u8 elements");
  if (!to || !is_small(*to))
    return rule.fail("\"" + op.getTo() + "\" is not a small element type such as u4 or f8e5m2");
  return rule.add_result(*to, x.getShape());
}

namespace {

bool is_number(mlir::Attribute attribute) {
  auto integer = mlir::dyn_cast<mlir::IntegerAttr>(attribute);
  return mlir::isa<mlir::FloatAttr>(attribute) ||
         (integer && integer.getValue().getBitWidth() <= 64);
}

}  // namespace

llvm::LogicalResult IotaOp::infer(TypeRule& rule, Adaptor op) {
  std::optional<DType> dtype = computed_dtype(op.getDtype());
  if (!dtype || dtype == DType::kStr)
    return rule.fail("\"" + op.getDtype() + "\" is not a numeric element type");
  if (failed(rule.check_count(op.getSize().getValue().size(), "size", 1))) return mlir::failure();
  for (auto [name, value] : {std::pair("start", op.getStart()), {"step", op.getStep()}})
    if (!is_number(value))
      return rule.fail(llvm::Twine(name) + " must be an integer or float of at most 64 bits");
  return rule.add_result(*dtype, op.getSize().getValue());
}

}  // namespace scopevm::compiler::graph
