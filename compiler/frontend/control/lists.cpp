// Builders of list ops; see lists.h.
#include "compiler/frontend/lists.h"

#include "compiler/graph/type_rule.h"

namespace scopevm::compiler::frontend {

using graph::ListType;
using graph::TensorType;
using graph::text_of;
using mlir::Value;

namespace {

ListType type_of(Value list) { return mlir::cast<ListType>(list.getType()); }

// The type of an optional that holds a value of `type`; `type` itself if it is an optional.
ListType optional_of(mlir::Type type) {
  if (mlir::isa<TensorType>(type)) return ListType::of(type, ValueKind::kOptional);
  auto list = mlir::cast<ListType>(type);
  return list.getKind() == ValueKind::kSequence ? list.withKind(ValueKind::kOptionalSequence)
                                                : list;
}

}  // namespace

ListType join_lists(mlir::Type a, mlir::Type b) {
  auto x = mlir::dyn_cast<ListType>(a), y = mlir::dyn_cast<ListType>(b);
  if (!x && !y) return {};
  // Types of different kinds are joined as optionals.
  if (x && y && x.getKind() == y.getKind()) return x.join(y);
  return optional_of(a).join(optional_of(b));
}

graph::DimsAttr ListBuilder::dims(std::optional<DimExpr> index) {
  llvm::SmallVector<DimExpr> list;
  if (index) list.push_back(*index);
  return graph::DimsAttr::get(builder_.getContext(), list);
}

Value ListBuilder::make(ListType type, llvm::ArrayRef<Value> elements) {
  return builder_.create<graph::ListOp>(location_, type, elements);
}

Result<Value> ListBuilder::get(Value list, DimExpr index) {
  ListType type = type_of(list);
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
      symbols.push_back(builder_.getStringAttr(fresh_("dim")));
      dim = DimExpr::symbol(mlir::cast<mlir::StringAttr>(symbols.back()).str());
    }
    result = TensorType::get(builder_.getContext(), type.getDtype(), shape);
  }
  auto op = builder_.create<graph::ListGetOp>(location_, result, list, dims(index),
                                              builder_.getArrayAttr(symbols));
  return op.getResult();
}

Result<Value> ListBuilder::insert(Value list, Value element, std::optional<DimExpr> index) {
  ListType type = type_of(list);
  ListType joined = mlir::isa<TensorType>(element.getType())
                        ? type.join(ListType::of(element.getType(), type.getKind()))
                        : ListType();
  if (!joined)
    return Status(StatusCode::kInvalidModel,
                  "cannot insert " + text_of(element.getType()) + " into " + text_of(type));
  auto op = builder_.create<graph::ListInsertOp>(location_, joined, list, element, dims(index));
  return op.getResult();
}

Value ListBuilder::erase(Value list, DimExpr index) {
  return builder_.create<graph::ListEraseOp>(location_, list.getType(), list, dims(index));
}

DimExpr ListBuilder::size(Value list) {
  std::string symbol = fresh_("size");
  builder_.create<graph::ListSizeOp>(location_, list, symbol);
  return DimExpr::symbol(symbol);
}

Value ListBuilder::fit(Value value, mlir::Type type) {
  auto list = mlir::dyn_cast<ListType>(type);
  if (!list || !is_optional(list.getKind()) || optional_of(value.getType()) == value.getType())
    return value;
  return make(list, value);
}

}  // namespace scopevm::compiler::frontend
