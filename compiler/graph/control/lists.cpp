// Lists in the graph: the list type, and the verifiers of list ops.
#include "compiler/graph/control/signature.h"
#include "compiler/graph/type_rule.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"

namespace scopevm::compiler::graph {
namespace {

constexpr std::pair<ValueKind, llvm::StringLiteral> kKindWords[] = {
    {ValueKind::kOptionalSequence, "optional sequence"},
    {ValueKind::kOptional, "optional"},
    {ValueKind::kSequence, "sequence"}};

// Converts a dim of an element's type to a dim of the list type: `dim` itself if it is a constant,
// else kAnyDim.
DimExpr known_dim(DimExpr dim) { return dim.is_constant() ? dim : DimExpr(kAnyDim); }

}  // namespace

// --- ListType. ----------------------------------------------------------------------------------

ListType ListType::of(mlir::Type element, ValueKind kind) {
  if (auto list = mlir::dyn_cast<ListType>(element)) return list.withKind(kind);
  auto tensor = mlir::cast<TensorType>(element);
  llvm::SmallVector<DimExpr> shape;
  for (DimExpr dim : tensor.getShape()) shape.push_back(known_dim(dim));
  return get(element.getContext(), kind, tensor.getDtype(), ElementDims::kShape, shape);
}

ListType ListType::withKind(ValueKind kind) const {
  return get(getContext(), kind, getDtype(), getElements(), getShape());
}

ListType ListType::join(ListType other) const {
  if (getKind() != other.getKind() || getDtype() != other.getDtype()) return {};
  // kNone, the type of an empty list, joins with any type; kAny absorbs every type.
  if (getElements() == ElementDims::kNone || other.getElements() == ElementDims::kAny) return other;
  if (other.getElements() == ElementDims::kNone || getElements() == ElementDims::kAny) return *this;
  if (getShape().size() != other.getShape().size())
    return get(getContext(), getKind(), getDtype(), ElementDims::kAny, llvm::ArrayRef<DimExpr>());
  llvm::SmallVector<DimExpr> shape(getShape());
  for (size_t axis = 0; axis < shape.size(); ++axis)
    if (shape[axis] != other.getShape()[axis]) shape[axis] = kAnyDim;
  return get(getContext(), getKind(), getDtype(), ElementDims::kShape, shape);
}

// For example, <sequence f32[?, 4]>.
void ListType::print(mlir::AsmPrinter& printer) const {
  printer << '<';
  for (const auto& [kind, word] : kKindWords)
    if (kind == getKind()) printer << word;
  printer << ' ' << scopevm::name(getDtype());
  if (getElements() == ElementDims::kAny) printer << "[...]";
  if (getElements() == ElementDims::kShape) {
    printer << '[';
    llvm::interleaveComma(getShape(), printer, [&](DimExpr dim) {
      dim.is_constant(kAnyDim) ? printer << "?" : printer << dim.str();
    });
    printer << ']';
  }
  printer << '>';
}

mlir::Type ListType::parse(mlir::AsmParser& parser) {
  if (parser.parseLess()) return {};
  bool is_optional = succeeded(parser.parseOptionalKeyword("optional"));
  bool is_sequence = succeeded(parser.parseOptionalKeyword("sequence"));
  if (!is_optional && !is_sequence) {
    parser.emitError(parser.getCurrentLocation(), "expected 'sequence' or 'optional'");
    return {};
  }
  ValueKind kind = !is_optional  ? ValueKind::kSequence
                   : is_sequence ? ValueKind::kOptionalSequence
                                 : ValueKind::kOptional;
  llvm::StringRef dtype_name;
  llvm::SMLoc location = parser.getCurrentLocation();
  if (parser.parseKeyword(&dtype_name)) return {};
  std::optional<DType> dtype = computed_dtype(dtype_name);
  if (!dtype) {
    parser.emitError(location) << "'" << dtype_name << "' is not an element type";
    return {};
  }
  ElementDims elements = ElementDims::kNone;
  llvm::SmallVector<DimExpr> shape;
  if (succeeded(parser.parseOptionalLSquare())) {
    elements = ElementDims::kShape;
    if (succeeded(parser.parseOptionalEllipsis())) {
      elements = ElementDims::kAny;
    } else if (failed(parser.parseOptionalRSquare())) {
      do {
        int64_t number = kAnyDim;
        location = parser.getCurrentLocation();
        const bool is_any = succeeded(parser.parseOptionalQuestion());
        if (!is_any && parser.parseInteger(number)) return {};
        if (!is_any && number < 0) {
          parser.emitError(location) << "expected a dim of at least 0, given " << number;
          return {};
        }
        shape.push_back(number);
      } while (succeeded(parser.parseOptionalComma()));
      if (parser.parseRSquare() || parser.parseGreater()) return {};
      return get(parser.getContext(), kind, *dtype, elements, shape);
    } else {
      return parser.parseGreater() ? ListType()
                                   : get(parser.getContext(), kind, *dtype, elements, shape);
    }
    if (parser.parseRSquare()) return {};
  }
  if (parser.parseGreater()) return {};
  return get(parser.getContext(), kind, *dtype, elements, shape);
}

// --- Verifiers. ---------------------------------------------------------------------------------

namespace {

llvm::LogicalResult check_index(mlir::Operation* op, DimsAttr index, bool may_be_absent) {
  size_t count = index.getValue().size();
  if (count == 1 || (may_be_absent && count == 0)) return mlir::success();
  return op->emitOpError() << "expected " << (may_be_absent ? "at most 1 index" : "1 index")
                           << ", given " << count;
}

// Verifies that `list` can hold `element`.
llvm::LogicalResult check_element(mlir::Operation* op, mlir::Type element, ListType list) {
  auto inner = mlir::dyn_cast<ListType>(element);
  bool fits = list.hasListElements() == (inner && inner.getKind() == ValueKind::kSequence) &&
              (list.hasListElements() || !inner);
  if (fits && ListType::of(element, list.getKind()).fits(list)) return mlir::success();
  return op->emitOpError() << "element " << text_of(element) << " cannot be stored in "
                           << text_of(list);
}

llvm::LogicalResult check_flow(mlir::Operation* op, ListType from, ListType to) {
  if (from.fits(to)) return mlir::success();
  return op->emitOpError() << "result " << text_of(to) << " cannot hold the elements of "
                           << text_of(from);
}

}  // namespace

llvm::LogicalResult ListOp::verify() {
  ListType type = getResult().getType();
  if (is_optional(type.getKind()) && getElements().size() > 1)
    return emitOpError() << "an optional has at most 1 element, given " << getElements().size();
  for (mlir::Type element : getElements().getTypes())
    if (failed(check_element(*this, element, type))) return mlir::failure();
  return mlir::success();
}

llvm::LogicalResult ListGetOp::verify() {
  if (failed(check_index(*this, getIndexAttr(), false))) return mlir::failure();
  for (llvm::StringRef symbol : getSymbols().getAsValueRange<mlir::StringAttr>())
    if (failed(check_symbol(*this, symbol))) return mlir::failure();
  ListType list = getList().getType();
  if (list.hasListElements()) {
    auto sequence = mlir::dyn_cast<ListType>(getResult().getType());
    if (sequence && list.getSequence().fits(sequence)) return mlir::success();
    return emitOpError() << "result " << text_of(getResult().getType()) << " is not an element of "
                         << text_of(list);
  }
  auto tensor = mlir::dyn_cast<TensorType>(getResult().getType());
  bool has_shape = list.getElements() == ElementDims::kShape;
  bool fits = tensor && tensor.getDtype() == list.getDtype() &&
              (!has_shape || tensor.getShape().size() == list.getShape().size());
  for (size_t axis = 0; fits && axis < tensor.getShape().size(); ++axis) {
    DimExpr known = has_shape ? list.getShape()[axis] : DimExpr(kAnyDim);
    fits = known.is_constant(kAnyDim) ? is_among(tensor.getShape()[axis], getSymbols())
                                      : tensor.getShape()[axis] == known;
  }
  if (fits) return mlir::success();
  return emitOpError() << "result " << text_of(getResult().getType()) << " is not an element of "
                       << text_of(list) << " with symbols " << getSymbols();
}

llvm::LogicalResult ListInsertOp::verify() {
  if (failed(check_index(*this, getIndexAttr(), true)) ||
      failed(check_flow(*this, getList().getType(), getResult().getType())))
    return mlir::failure();
  return check_element(*this, getElement().getType(), getResult().getType());
}

llvm::LogicalResult ListEraseOp::verify() {
  if (failed(check_index(*this, getIndexAttr(), false))) return mlir::failure();
  return check_flow(*this, getList().getType(), getResult().getType());
}

llvm::LogicalResult ListSizeOp::verify() { return check_symbol(*this, getSymbol()); }

}  // namespace scopevm::compiler::graph
