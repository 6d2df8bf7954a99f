// Type rules of the ops that move elements, and of constants.
#include "compiler/graph/infer/infer.h"
#include "mlir/IR/BuiltinTypes.h"

namespace scopevm::compiler::graph {
namespace {

using Shape = llvm::SmallVector<DimExpr>;

TensorType type_of(mlir::Value value) { return mlir::cast<TensorType>(value.getType()); }

llvm::LogicalResult finish(TypeRule& rule, DType dtype, llvm::ArrayRef<DimExpr> shape) {
  rule.types.push_back(TensorType::get(rule.context, dtype, shape));
  return mlir::success();
}

bool is_axis(TensorType x, int64_t axis) { return axis >= 0 && axis < x.getRank(); }

llvm::LogicalResult check_reduction(TypeRule& rule, TensorType x, llvm::StringRef reduction) {
  if (x.getDtype() != DType::kStr || reduction == "none") return mlir::success();
  return rule.fail("texts have no " + reduction + ": " + text_of(x));
}

}  // namespace

llvm::LogicalResult inferTranspose(TypeRule& rule, TransposeOp::Adaptor op) {
  TensorType x = type_of(op.getX());
  llvm::SmallVector<bool> seen(x.getRank(), false);
  Shape shape;
  for (int64_t axis : op.getPermutation()) {
    if (!is_axis(x, axis) || seen[axis]) return rule.fail("permutation does not fit " + text_of(x));
    seen[axis] = true;
    shape.push_back(x.getDim(axis));
  }
  if (static_cast<int64_t>(shape.size()) != x.getRank())
    return rule.fail("permutation does not fit " + text_of(x));
  return finish(rule, x.getDtype(), shape);
}

llvm::LogicalResult inferReshape(TypeRule& rule, ReshapeOp::Adaptor op) {
  TensorType x = type_of(op.getX());
  llvm::ArrayRef<DimExpr> dims = op.getDims().getValue();
  if (!may_be_equal(x.getElementCount(), element_count(dims)))
    return rule.fail(text_of(x) + " has another element count than " + text_of(x.withShape(dims)));
  return finish(rule, x.getDtype(), dims);
}

llvm::LogicalResult inferExpand(TypeRule& rule, ExpandOp::Adaptor op) {
  TensorType x = type_of(op.getX());
  auto shape = broadcast_shapes(x.getShape(), op.getDims().getValue());
  if (!shape) return rule.fail(text_of(x) + " does not broadcast to the new dims");
  return finish(rule, x.getDtype(), *shape);
}

llvm::LogicalResult inferConcat(TypeRule& rule, mlir::ValueRange operands, int64_t axis) {
  if (operands.empty()) return rule.fail("no operands");
  TensorType first = type_of(operands.front());
  if (!is_axis(first, axis)) return rule.fail("axis is outside " + text_of(first));
  Shape shape(first.getShape());
  for (mlir::Value operand : operands.drop_front()) {
    TensorType next = type_of(operand);
    if (next.getRank() != first.getRank() || next.getDtype() != first.getDtype())
      return rule.fail("operands " + text_of(first) + " and " + text_of(next) + " do not fit");
    for (int64_t i = 0; i < first.getRank(); ++i) {
      if (i == axis)
        shape[i] = shape[i] + next.getDim(i);
      else if (!may_be_equal(shape[i], next.getDim(i)))
        return rule.fail("operands " + text_of(first) + " and " + text_of(next) + " do not fit");
      else if (next.getDim(i).is_constant())
        shape[i] = next.getDim(i);
    }
  }
  return finish(rule, first.getDtype(), shape);
}

llvm::LogicalResult inferSlice(TypeRule& rule, SliceOp::Adaptor op) {
  TensorType x = type_of(op.getX());
  size_t rank = x.getRank();
  if (op.getStarts().getValue().size() != rank || op.getSizes().getValue().size() != rank ||
      op.getSteps().size() != rank || llvm::is_contained(op.getSteps(), 0))
    return rule.fail("starts, sizes or steps do not fit " + text_of(x));
  return finish(rule, x.getDtype(), op.getSizes().getValue());
}

llvm::LogicalResult inferPad(TypeRule& rule, PadOp::Adaptor op) {
  TensorType x = type_of(op.getX());
  llvm::ArrayRef<DimExpr> pads = op.getPads().getValue();
  llvm::StringRef mode = op.getMode();
  if (pads.size() != static_cast<size_t>(2 * x.getRank()))
    return rule.fail("pads do not fit " + text_of(x));
  if (mode != "constant" && mode != "reflect" && mode != "edge")
    return rule.fail("mode \"" + mode + "\" is not constant, reflect or edge");
  Shape shape;
  for (int64_t i = 0; i < x.getRank(); ++i)
    shape.push_back(x.getDim(i) + pads[i] + pads[x.getRank() + i]);
  return finish(rule, x.getDtype(), shape);
}

llvm::LogicalResult inferGather(TypeRule& rule, GatherOp::Adaptor op) {
  TensorType x = type_of(op.getX()), indices = type_of(op.getIndices());
  int64_t axis = op.getAxis();
  if (!is_axis(x, axis)) return rule.fail("axis is outside " + text_of(x));
  Shape shape(x.getShape().take_front(axis));
  shape.append(indices.getShape().begin(), indices.getShape().end());
  shape.append(x.getShape().begin() + axis + 1, x.getShape().end());
  return finish(rule, x.getDtype(), shape);
}

llvm::LogicalResult inferGatherElements(TypeRule& rule, GatherElementsOp::Adaptor op) {
  TensorType x = type_of(op.getX()), indices = type_of(op.getIndices());
  if (!is_axis(x, op.getAxis()) || indices.getRank() != x.getRank())
    return rule.fail("axis or indices do not fit " + text_of(x));
  return finish(rule, x.getDtype(), indices.getShape());
}

llvm::LogicalResult inferGatherNd(TypeRule& rule, GatherNdOp::Adaptor op) {
  TensorType x = type_of(op.getX()), indices = type_of(op.getIndices());
  int64_t batch = op.getBatchDims();
  if (indices.getRank() < 1 || batch < 0 || batch >= indices.getRank() || batch > x.getRank())
    return rule.fail("indices do not fit " + text_of(x));
  std::optional<int64_t> depth = indices.getShape().back().as_constant();
  if (!depth || *depth < 1 || batch + *depth > x.getRank())
    return rule.fail("the indices' last dim must be a number that fits " + text_of(x));
  Shape shape(indices.getShape().drop_back());
  shape.append(x.getShape().begin() + batch + *depth, x.getShape().end());
  return finish(rule, x.getDtype(), shape);
}

llvm::LogicalResult inferScatterElements(TypeRule& rule, ScatterElementsOp::Adaptor op) {
  TensorType x = type_of(op.getX()), indices = type_of(op.getIndices());
  TensorType updates = type_of(op.getUpdates());
  if (!is_axis(x, op.getAxis()) || indices.getRank() != x.getRank() ||
      updates.getRank() != x.getRank() || updates.getDtype() != x.getDtype())
    return rule.fail("axis, indices or updates do not fit " + text_of(x));
  if (failed(check_reduction(rule, x, op.getReduction()))) return mlir::failure();
  return inferSame(rule, op.getX());
}

llvm::LogicalResult inferScatterNd(TypeRule& rule, ScatterNdOp::Adaptor op) {
  TensorType x = type_of(op.getX()), indices = type_of(op.getIndices());
  TensorType updates = type_of(op.getUpdates());
  if (indices.getRank() < 1) return rule.fail("indices do not fit " + text_of(x));
  std::optional<int64_t> depth = indices.getShape().back().as_constant();
  if (!depth || *depth < 1 || *depth > x.getRank())
    return rule.fail("the indices' last dim must be a number that fits " + text_of(x));
  if (updates.getRank() != indices.getRank() - 1 + x.getRank() - *depth ||
      updates.getDtype() != x.getDtype())
    return rule.fail("updates " + text_of(updates) + " do not fit " + text_of(x));
  if (failed(check_reduction(rule, x, op.getReduction()))) return mlir::failure();
  return inferSame(rule, op.getX());
}

llvm::LogicalResult inferTile(TypeRule& rule, TileOp::Adaptor op) {
  TensorType x = type_of(op.getX());
  llvm::ArrayRef<DimExpr> repeats = op.getRepeats().getValue();
  if (repeats.size() != static_cast<size_t>(x.getRank()))
    return rule.fail("repeats do not fit " + text_of(x));
  Shape shape;
  for (int64_t i = 0; i < x.getRank(); ++i) shape.push_back(x.getDim(i) * repeats[i]);
  return finish(rule, x.getDtype(), shape);
}

llvm::LogicalResult inferOneHot(TypeRule& rule, OneHotOp::Adaptor op) {
  TensorType indices = type_of(op.getIndices());
  int64_t axis = op.getAxis();
  if (op.getDepth().getValue().size() != 1 || axis < 0 || axis > indices.getRank())
    return rule.fail("depth or axis does not fit " + text_of(indices));
  Shape shape(indices.getShape());
  shape.insert(shape.begin() + axis, op.getDepth().getValue().front());
  return finish(rule, type_of(op.getValues()).getDtype(), shape);
}

llvm::LogicalResult inferResize(TypeRule& rule, ResizeOp::Adaptor op) {
  TensorType x = type_of(op.getX());
  if (op.getDims().getValue().size() != static_cast<size_t>(x.getRank()))
    return rule.fail("dims do not fit " + text_of(x));
  return finish(rule, x.getDtype(), op.getDims().getValue());
}

llvm::LogicalResult inferTopK(TypeRule& rule, TopKOp::Adaptor op) {
  TensorType x = type_of(op.getX());
  if (!is_axis(x, op.getAxis()) || op.getK().getValue().size() != 1)
    return rule.fail("axis or k does not fit " + text_of(x));
  Shape shape(x.getShape());
  shape[op.getAxis()] = op.getK().getValue().front();
  rule.types.push_back(TensorType::get(rule.context, x.getDtype(), shape));
  return finish(rule, DType::kI64, shape);
}

llvm::LogicalResult inferIota(TypeRule& rule, IotaOp::Adaptor op) {
  std::optional<DType> dtype = parse_dtype(op.getDtype());
  if (!dtype || dtype == DType::kStr || op.getSize().getValue().size() != 1)
    return rule.fail("element type or size is not valid");
  return finish(rule, *dtype, op.getSize().getValue());
}

namespace {

std::optional<DType> dtype_of(mlir::Type type) {
  if (mlir::isa<TextType>(type)) return DType::kStr;
  if (type.isF16()) return DType::kF16;
  if (type.isBF16()) return DType::kBF16;
  if (type.isF32()) return DType::kF32;
  if (type.isF64()) return DType::kF64;
  auto integer = mlir::dyn_cast<mlir::IntegerType>(type);
  if (!integer) return std::nullopt;
  switch (integer.getWidth()) {
    case 1:
      return DType::kBool;
    case 8:
      return integer.isUnsigned() ? DType::kU8 : DType::kI8;
    case 16:
      return integer.isUnsigned() ? DType::kU16 : DType::kI16;
    case 32:
      return integer.isUnsigned() ? DType::kU32 : DType::kI32;
    case 64:
      return integer.isUnsigned() ? DType::kU64 : DType::kI64;
    default:
      return std::nullopt;
  }
}

}  // namespace

llvm::LogicalResult inferConstant(TypeRule& rule, mlir::ElementsAttr value) {
  std::optional<DType> dtype = dtype_of(value.getElementType());
  if (!dtype) return rule.fail("element type " + text_of(value.getElementType()) + " is not one");
  Shape shape;
  for (int64_t dim : value.getShapedType().getShape()) shape.push_back(dim);
  return finish(rule, *dtype, shape);
}

llvm::LogicalResult inferDimsTensor(TypeRule& rule, DimsTensorOp::Adaptor op) {
  llvm::ArrayRef<DimExpr> dims = op.getDims().getValue();
  std::optional<DType> dtype = parse_dtype(op.getDtype());
  if (!dtype || dtype == DType::kStr || (op.getScalar() && dims.size() != 1))
    return rule.fail("element type is not one, or a scalar does not have one dim");
  Shape shape;
  if (!op.getScalar()) shape.push_back(static_cast<int64_t>(dims.size()));
  return finish(rule, *dtype, shape);
}

}  // namespace scopevm::compiler::graph
