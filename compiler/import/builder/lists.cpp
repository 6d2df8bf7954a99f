// Builders of list ops; see lists.h.
#include "compiler/import/builder/lists.h"

#include "compiler/graph/type_rule.h"

namespace scopevm::compiler::frontend {

using graph::ListType;
using graph::TensorType;
using graph::text_of;
using mlir::Value;

namespace {

ListType list_type(Value list) { return mlir::cast<ListType>(list.getType()); }

// The type of an optional that holds a value of `type`; `type` itself if it is an optional.
ListType optional_of(mlir::Type type) {
  if (mlir::isa<TensorType>(type)) return ListType::of(type, ValueKind::kOptional);
  auto list = mlir::cast<ListType>(type);
  return list.getKind() == ValueKind::kSequence ? list.withKind(ValueKind::kOptionalSequence)
                                                : list;
}

// The position in a list of `size` elements that a constant index denotes. No value if the index is
// not a constant, or out of range.
std::optional<size_t> position(DimExpr index, size_t size) {
  const std::optional<int64_t> constant = index.as_constant();
  const auto count = static_cast<int64_t>(size);
  if (!constant || *constant < -count || *constant >= count) return std::nullopt;
  return static_cast<size_t>(*constant < 0 ? *constant + count : *constant);
}

}  // namespace

ListType join_lists(mlir::Type a, mlir::Type b) {
  auto x = mlir::dyn_cast<ListType>(a), y = mlir::dyn_cast<ListType>(b);
  if (!x && !y) return {};
  // Types of different kinds are joined as optionals.
  if (x && y && x.getKind() == y.getKind()) return x.join(y);
  return optional_of(a).join(optional_of(b));
}

std::optional<mlir::OperandRange> elements_of(Value list) {
  auto op = list.getDefiningOp<graph::ListOp>();
  return op ? std::optional(op.getElements()) : std::nullopt;
}

graph::DimsAttr ListBuilder::dims(std::optional<DimExpr> index) {
  llvm::SmallVector<DimExpr> list;
  if (index) list.push_back(*index);
  return graph::DimsAttr::get(builder_.getContext(), list);
}

Value ListBuilder::make(ListType type, llvm::ArrayRef<Value> elements) {
  return builder_.create<graph::ListOp>(type, elements);
}

Value ListBuilder::make_empty(ValueKind kind, DType dtype) {
  return make(ListType::get(builder_.getContext(), kind, dtype), {});
}

Result<Value> ListBuilder::make_sequence(llvm::ArrayRef<Value> elements) {
  ListType type = ListType::of(elements.front().getType(), ValueKind::kSequence);
  for (Value element : elements) {
    type = type.join(ListType::of(element.getType(), ValueKind::kSequence));
    if (!type) return Status(StatusCode::kInvalidModel, "its inputs have different element types");
  }
  return make(type, elements);
}

Result<Value> ListBuilder::get(Value list, DimExpr index) {
  if (const auto elements = elements_of(list))
    if (const auto at = position(index, elements->size())) return Value((*elements)[*at]);
  ListType type = list_type(list);
  llvm::SmallVector<mlir::Attribute> symbols;
  mlir::Type result = type.getSequence();
  if (!type.hasListElements()) {
    if (type.getElements() == graph::ElementDims::kAny)
      return Status(StatusCode::kUnsupported,
                    "the rank of the elements of the sequence is unknown");
    if (type.getElements() == graph::ElementDims::kNone)
      return Status(StatusCode::kUnsupported, "the sequence is read before an element is inserted");
    llvm::SmallVector<DimExpr> shape(type.getShape());
    for (DimExpr& dim : shape) {
      // A dim that differs between elements is read from the element at run time.
      if (!dim.is_constant(graph::kAnyDim)) continue;
      symbols.push_back(builder_.getStringAttr(builder_.fresh_symbol("dim")));
      dim = DimExpr::symbol(mlir::cast<mlir::StringAttr>(symbols.back()).str());
    }
    result = TensorType::get(builder_.getContext(), type.getDtype(), shape);
  }
  auto op =
      builder_.create<graph::ListGetOp>(result, list, dims(index), builder_.getArrayAttr(symbols));
  return op.getResult();
}

Result<Value> ListBuilder::insert(Value list, Value element, std::optional<DimExpr> index) {
  ListType type = list_type(list);
  ListType joined = mlir::isa<TensorType>(element.getType())
                        ? type.join(ListType::of(element.getType(), type.getKind()))
                        : ListType();
  if (!joined)
    return Status(StatusCode::kInvalidModel,
                  "cannot insert " + text_of(element.getType()) + " into " + text_of(type));
  if (const auto elements = elements_of(list)) {
    std::optional<size_t> at = elements->size();
    if (index && !index->is_constant(static_cast<int64_t>(*at))) at = position(*index, *at);
    if (at) {
      llvm::SmallVector<Value> longer(*elements);
      longer.insert(longer.begin() + *at, element);
      return make(joined, longer);
    }
  }
  auto op = builder_.create<graph::ListInsertOp>(joined, list, element, dims(index));
  return op.getResult();
}

Value ListBuilder::erase(Value list, DimExpr index) {
  if (const auto elements = elements_of(list))
    if (const auto at = position(index, elements->size())) {
      llvm::SmallVector<Value> shorter(*elements);
      shorter.erase(shorter.begin() + *at);
      return make(list_type(list), shorter);
    }
  return builder_.create<graph::ListEraseOp>(list.getType(), list, dims(index));
}

DimExpr ListBuilder::size(Value list) {
  if (const auto elements = elements_of(list)) return static_cast<int64_t>(elements->size());
  std::string symbol = builder_.fresh_symbol("size");
  builder_.create<graph::ListSizeOp>(list, symbol);
  return DimExpr::symbol(symbol);
}

Value ListBuilder::fit(Value value, mlir::Type type) {
  auto list = mlir::dyn_cast<ListType>(type);
  if (!list || !is_optional(list.getKind()) || optional_of(value.getType()) == value.getType())
    return value;
  return make(list, value);
}

}  // namespace scopevm::compiler::frontend
