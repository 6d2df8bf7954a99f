// ONNX sequences. builder/lists.h folds ops on lists of known length.
#include "compiler/import/ops/sequence/sequence.h"

#include "compiler/import/model/onnx_types.h"
#include "compiler/import/ops/op_table.h"

namespace scopevm::compiler::frontend {

Value input_sequence(Node& n) {
  Value list = n.any_input(0);
  if (n.has_failed()) return {};
  auto type = mlir::dyn_cast<graph::ListType>(list.getType());
  if (!type)
    n.fail("input 0 \"" + n.proto().input(0) + "\" is not a sequence");
  else if (is_optional(type.getKind()))
    n.fail("input 0 is an optional, expected a sequence");
  return n.has_failed() ? Value() : list;
}

namespace {

using graph::ListType;

// Whether a position can be the length of the list, to append to it.
enum class Range { kElements, kElementsAndEnd };

// The index in input `input`; negative indices count from the end. No value if the input is absent,
// or after an error.
std::optional<DimExpr> position(Node& n, Value list, size_t input, Range range = Range::kElements) {
  if (!n.has_input(input) || n.has_failed()) return std::nullopt;
  const Dims at = n.dims_of(n.input(input), "the position", Node::Sign::kAny);
  if (!n.has_failed() && at.size() != 1)
    n.fail("the position must have 1 element, given " + llvm::Twine(at.size()));
  if (n.has_failed()) return std::nullopt;
  const auto elements = elements_of(list);
  const auto index = at.front().as_constant();
  if (!elements || !index) return at.front();
  const auto size = static_cast<int64_t>(elements->size());
  if (*index < -size || *index >= size + (range == Range::kElementsAndEnd ? 1 : 0))
    n.fail("position " + llvm::Twine(*index) + " is out of range for a sequence of length " +
           llvm::Twine(size));
  return at.front();
}

Values sequence_construct(Node& n) {
  const llvm::SmallVector<Value> elements = n.inputs();
  return n.has_failed() ? Value() : n.checked(n.lists().make_sequence(elements));
}

Values sequence_empty(Node& n) {
  const int type = static_cast<int>(n.integer("dtype", onnx::TensorProto::FLOAT));
  const std::optional<DType> dtype = dtype_of_onnx(type);
  if (!dtype) n.unsupported("element type " + onnx_type_name(type) + " is not supported");
  return n.has_failed() ? Value() : n.lists().make_empty(ValueKind::kSequence, *dtype);
}

Values sequence_length(Node& n) {
  Value list = input_sequence(n);
  return list ? n.dims_value({n.lists().size(list)}, /*is_scalar=*/true) : Value();
}

Values sequence_at(Node& n) {
  Value list = input_sequence(n);
  const std::optional<DimExpr> at = position(n, list, 1);
  return n.has_failed() || !at ? Value() : n.checked(n.lists().get(list, *at));
}

Values sequence_insert(Node& n) {
  Value list = input_sequence(n), element = n.input(1);
  if (n.has_failed()) return {};
  const DType expected = mlir::cast<ListType>(list.getType()).getDtype();
  if (elements_of(list) && n.dtype(element) != expected)
    n.fail("the tensor has element type " + llvm::Twine(name(n.dtype(element))) + ", expected " +
           name(expected) + ", the element type of the sequence");
  const std::optional<DimExpr> at = position(n, list, 2, Range::kElementsAndEnd);
  return n.has_failed() ? Value() : n.checked(n.lists().insert(list, element, at));
}

Values sequence_erase(Node& n) {
  Value list = input_sequence(n);
  if (n.has_failed()) return {};
  const auto elements = elements_of(list);
  if (!n.has_input(1) && elements && elements->empty()) n.fail("the sequence is empty");
  // Without a position, ONNX erases the last element.
  const DimExpr at = position(n, list, 1).value_or(-1);
  return n.has_failed() ? Value() : n.lists().erase(list, at);
}

Values identity(Node& n) { return n.any_input(0); }

}  // namespace

const OpRows kSequenceOps = {
    {"Identity", 1, identity, std::nullopt, /*takes_lists=*/true},
    {"SequenceAt", 1, sequence_at, std::nullopt, /*takes_lists=*/true},
    {"SequenceConstruct", 1, sequence_construct, std::nullopt, /*takes_lists=*/true},
    {"SequenceEmpty", 1, sequence_empty},
    {"SequenceErase", 1, sequence_erase, std::nullopt, /*takes_lists=*/true},
    {"SequenceInsert", 1, sequence_insert, std::nullopt, /*takes_lists=*/true},
    {"SequenceLength", 1, sequence_length, std::nullopt, /*takes_lists=*/true},
};

}  // namespace scopevm::compiler::frontend
