// ONNX optionals: lists of at most one element. ONNX permits the ops of optionals on plain values,
// which always have an element.
#include "compiler/import/model/onnx_types.h"
#include "compiler/import/ops/op_table.h"
#include "compiler/import/scope/declared_types.h"

namespace scopevm::compiler::frontend {
namespace {

using graph::ListType;

bool is_optional_value(Value value) {
  auto list = mlir::dyn_cast<ListType>(value.getType());
  return list && is_optional(list.getKind());
}

// Without an input, the optional is empty and has the type of attribute `type`.
Values optional(Node& n) {
  if (n.has_input(0)) {
    Value held = n.any_input(0);
    if (is_optional_value(held))
      return n.fail("input 0 is an optional, expected a tensor or sequence");
    const bool is_list = mlir::isa<ListType>(held.getType());
    const ValueKind kind = is_list ? ValueKind::kOptionalSequence : ValueKind::kOptional;
    return n.lists().make(ListType::of(held.getType(), kind), held);
  }
  const auto* type = n.attribute("type", onnx::AttributeProto::TYPE_PROTO);
  if (!type) n.fail("the node has neither an input nor attribute \"type\"");
  if (n.has_failed()) return {};
  onnx::TypeProto proto;
  *proto.mutable_optional_type()->mutable_elem_type() = type->tp();
  const ListType list = n.checked(list_type_of(*n.builder().getContext(), proto));
  return list ? n.lists().make_empty(list.getKind(), list.getDtype()) : Value();
}

Values optional_has_element(Node& n) {
  Value held = n.has_input(0) ? n.any_input(0) : Value();
  const bool is_plain = held && !is_optional_value(held);
  const DimExpr count = !held || is_plain ? DimExpr(is_plain) : n.lists().size(held);
  if (count.is_constant())
    return n.constant({}, DType::kBool, {static_cast<char>(!count.is_constant(0))});
  return n.emit<graph::GreaterOp>(
      {n.dims_value({count}, /*is_scalar=*/true), n.scalar(0, DType::kI64)});
}

Values optional_get_element(Node& n) {
  Value held = n.any_input(0);
  if (n.has_failed() || !is_optional_value(held)) return held;
  // An element that is absent is an error of the call, because the node can be in a branch that
  // OptionalHasElement excludes.
  return n.checked(n.lists().get(held, 0));
}

}  // namespace

const OpRows kOptionalOps = {
    {"Optional", 1, optional, std::nullopt, /*takes_lists=*/true},
    {"OptionalGetElement", 1, optional_get_element, std::nullopt, /*takes_lists=*/true},
    {"OptionalHasElement", 1, optional_has_element, std::nullopt, /*takes_lists=*/true},
};

}  // namespace scopevm::compiler::frontend
