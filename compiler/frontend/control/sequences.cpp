// ONNX sequences and optionals whose lengths are known at compile time. They are lists of values
// without a representation at run time. An optional is a sequence of length 0 or 1.
// run_time_sequences.cpp handles lengths that are known only at run time.
#include "compiler/frontend/graph_importer.h"
#include "runtime/count_text.h"

namespace scopevm::compiler::frontend {
namespace {

Status invalid(const std::string& message) { return Status(StatusCode::kInvalidModel, message); }

using graph::ElementDims;
using graph::ListType;

// An index into a list of `size` elements; negative indices count from the end. If may_append, the
// index may be `size`. REQUIRES: the input is known at compile time.
Result<size_t> position(Node& n, size_t input, size_t size, bool may_append) {
  Ints at = n.integers_of(n.input(input), "the position");
  if (n.has_failed()) return n.status();
  if (at.size() != 1)
    return invalid("the position must have 1 element, given " + std::to_string(at.size()));
  auto count = static_cast<int64_t>(size);
  int64_t index = at[0] < 0 ? at[0] + count : at[0];
  if (index >= 0 && index < count + (may_append ? 1 : 0)) return static_cast<size_t>(index);
  return invalid("position " + std::to_string(at[0]) +
                 " is out of range for a sequence of length " + std::to_string(size));
}

// The sizes of the parts into which x is split along `axis`. No value if the number of parts is
// known only at run time, or after an error.
std::optional<Dims> part_sizes(Node& n, Value x, int64_t axis) {
  std::optional<int64_t> dim = n.dim(x, axis).as_constant();
  bool is_list = n.has_input(1) && n.rank(n.input(1)) > 0;
  // The length of the list is the number of parts. The sizes may be known only at run time.
  if (is_list && n.shape(n.input(1)).front().is_constant())
    return n.dims_of(n.input(1), "the split");
  if (!dim || is_list || n.has_failed()) return std::nullopt;
  if (!n.has_input(1)) return Dims(static_cast<size_t>(*dim), DimExpr(1));
  if (!n.is_known(n.input(1))) return std::nullopt;
  Ints given = n.integers_of(n.input(1), "the split");
  if (n.has_failed()) return std::nullopt;
  if (given[0] < 1)
    return n.fail("the split size is " + llvm::Twine(given[0]) + ", expected at least 1"), Dims();
  Dims sizes;
  for (int64_t left = *dim; left > 0; left -= given[0]) sizes.push_back(std::min(given[0], left));
  return sizes;
}

}  // namespace

bool GraphImporter::is_sequence_op(const onnx::NodeProto& proto) const {
  static const std::set<std::string, std::less<>> kOps = {
      "SequenceConstruct", "SequenceEmpty",  "SequenceInsert",     "SequenceErase",
      "SequenceAt",        "SequenceLength", "SplitToSequence",    "ConcatFromSequence",
      "SequenceMap",       "Optional",       "OptionalHasElement", "OptionalGetElement"};
  if (kOps.contains(proto.op_type())) return true;
  return proto.op_type() == "Identity" && proto.input_size() == 1 && is_list(proto.input(0));
}

bool GraphImporter::is_list(const std::string& name) const {
  Value found = value(name);
  return found ? mlir::isa<ListType>(found.getType()) : sequences_.contains(name);
}

Value GraphImporter::list_value(const Sequence& list) {
  return lists().make(list.type, list.items);
}

Value GraphImporter::any_value(const std::string& name) {
  if (Value found = value(name)) return found;
  auto list = sequences_.find(name);
  return list == sequences_.end() ? Value() : list_value(list->second);
}

Status GraphImporter::import_sequence_op(const onnx::NodeProto& proto, int opset) {
  Node n(*this, proto, opset);
  if (proto.output_size() == 0) return {};
  if (proto.op_type() == "SequenceMap") return import_sequence_map(n);
  SCOPEVM_ASSIGN_OR_RETURN(auto result, sequence_op(n));
  if (n.has_failed()) return n.status();
  if (const auto* value = std::get_if<Value>(&result)) return bind(proto, 0, *value);
  sequences_[proto.output(0)] = std::get<Sequence>(std::move(result));
  return {};
}

// --- Construction. ------------------------------------------------------------------------------

Result<GraphImporter::Sequence> GraphImporter::sequence_of(llvm::ArrayRef<Value> items) {
  if (items.empty()) return invalid("the node has no inputs, expected at least 1");
  ListType type = ListType::of(items.front().getType(), ValueKind::kSequence);
  for (Value item : items) {
    ListType joined = type.join(ListType::of(item.getType(), ValueKind::kSequence));
    if (!joined) return invalid("its inputs have different element types");
    type = joined;
  }
  return Sequence{type, llvm::SmallVector<Value>(items)};
}

Result<GraphImporter::Sequence> GraphImporter::make_empty(Node& n) {
  int type = static_cast<int>(n.integer("dtype", onnx::TensorProto::FLOAT));
  auto dtype = dtype_of_onnx(type);
  if (!dtype)
    return Status(StatusCode::kUnsupported,
                  "element type " + onnx_type_name(type) + " is not supported");
  return Sequence{ListType::get(&context_, ValueKind::kSequence, *dtype), {}};
}

Result<GraphImporter::Sequence> GraphImporter::make_optional(Node& n) {
  if (n.has_input(0)) {
    Value held = any_value(n.proto().input(0));
    ListType list = mlir::dyn_cast<ListType>(held.getType());
    if (list && list.getKind() != ValueKind::kSequence)
      return invalid("input 0 is an optional, expected a tensor or sequence");
    ValueKind kind = list ? ValueKind::kOptionalSequence : ValueKind::kOptional;
    return Sequence{ListType::of(held.getType(), kind), {held}};
  }
  const auto* type = n.attribute("type", onnx::AttributeProto::TYPE_PROTO);
  if (!type) return invalid("the node has neither an input nor attribute \"type\"");
  onnx::TypeProto optional;
  *optional.mutable_optional_type()->mutable_elem_type() = type->tp();
  SCOPEVM_ASSIGN_OR_RETURN(ListType list, list_type_of(context_, optional));
  return Sequence{ListType::get(&context_, list.getKind(), list.getDtype()), {}};
}

Result<ListType> list_type_of(mlir::MLIRContext& context, const onnx::TypeProto& proto) {
  const onnx::TypeProto* element = &proto;
  bool is_optional = element->has_optional_type();
  if (is_optional) element = &element->optional_type().elem_type();
  bool is_sequence = element->has_sequence_type();
  if (is_sequence) element = &element->sequence_type().elem_type();
  ValueKind kind = !is_optional  ? ValueKind::kSequence
                   : is_sequence ? ValueKind::kOptionalSequence
                                 : ValueKind::kOptional;
  if (!element->has_tensor_type() || (!is_optional && !is_sequence))
    return Status(StatusCode::kUnsupported,
                  "only sequences and optionals of tensors are supported");
  auto dtype = dtype_of_onnx(element->tensor_type().elem_type());
  if (!dtype)
    return Status(
        StatusCode::kUnsupported,
        "element type " + onnx_type_name(element->tensor_type().elem_type()) + " is not supported");
  Dims shape;
  for (const auto& dim : element->tensor_type().shape().dim()) {
    bool is_known = dim.has_dim_value() && dim.dim_value() >= 0;
    // Named dims are not known either: the elements of a sequence may differ in them.
    shape.push_back(is_known ? dim.dim_value() : graph::kAnyDim);
  }
  ElementDims dims = element->tensor_type().has_shape() ? ElementDims::kShape : ElementDims::kAny;
  return ListType::get(&context, kind, *dtype, dims, shape);
}

// --- Sequence ops. ------------------------------------------------------------------------------

// Imports a sequence op with one result.
Result<GraphImporter::Item> GraphImporter::sequence_op(Node& n) {
  const std::string& op = n.proto().op_type();
  auto item = [](Result<Sequence> made) {
    return made.ok() ? Result<Item>(Item(*std::move(made))) : Result<Item>(made.status());
  };
  if (op == "SequenceConstruct") {
    llvm::SmallVector<Value> items = n.inputs();
    return n.has_failed() ? Result<Item>(n.status()) : item(sequence_of(items));
  }
  if (op == "SequenceEmpty") return item(make_empty(n));
  if (op == "Optional") return item(make_optional(n));
  if (op == "SplitToSequence") return split_to_sequence(n);
  if (op == "OptionalHasElement" && !n.has_input(0)) return Item(n.constant({}, DType::kBool, {0}));
  if (!n.has_input(0)) return invalid("input 0 is missing");
  const std::string& name = n.proto().input(0);
  if (auto found = sequences_.find(name); found != sequences_.end()) {
    Sequence list = found->second;
    SCOPEVM_ASSIGN_OR_RETURN(std::optional<Item> result, op_on_sequence(n, list));
    if (result) return *std::move(result);
    return op_on_list(n, list_value(list));
  }
  if (is_list(name)) return op_on_list(n, value(name));
  // Input 0 is a tensor. It is treated as an optional that has an element.
  if (op == "OptionalHasElement") return Item(n.constant({}, DType::kBool, {1}));
  if (op == "OptionalGetElement") return Item(n.input(0));
  return invalid("input 0 \"" + name + "\" is not a sequence");
}

// The result of a sequence op on a list of known length. No value if the op must run in a call.
Result<std::optional<GraphImporter::Item>> GraphImporter::op_on_sequence(Node& n,
                                                                         const Sequence& list) {
  const std::string& op = n.proto().op_type();
  using Some = std::optional<Item>;
  bool has_optional = is_optional(list.type.getKind());
  if (op == "Identity") return Some(list);
  if (op == "SequenceLength")
    return Some(n.dims_value({static_cast<int64_t>(list.items.size())}, true));
  if (op == "OptionalHasElement") {
    bool has_element = !has_optional || !list.items.empty();
    return Some(n.constant({}, DType::kBool, {static_cast<char>(has_element)}));
  }
  if (op == "OptionalGetElement") {
    if (!has_optional) return Some(list);
    // Emits a list op, which fails when it runs. An error here would reject models in which the
    // node is in a branch that OptionalHasElement excludes.
    if (list.items.empty()) return Some();
    return Some(list.items.front());
  }
  if (has_optional) return invalid("input 0 is an optional, expected a sequence");
  if (op == "ConcatFromSequence") {
    if (list.type.getElements() == ElementDims::kNone) return invalid("the sequence is empty");
    SCOPEVM_ASSIGN_OR_RETURN(Value whole, concat_from_sequence(n, list));
    return Some(whole);
  }
  size_t input = op == "SequenceInsert" ? 2 : 1;
  if (n.has_input(input) && !n.is_known(n.input(input))) return Some();
  if (op == "SequenceInsert") {
    Value item = n.input(1);
    if (n.has_failed()) return n.status();
    Sequence longer = list;
    longer.type = list.type.join(ListType::of(item.getType(), ValueKind::kSequence));
    if (!longer.type)
      return invalid("the tensor has element type " + std::string(name(n.dtype(item))) +
                     ", expected " + std::string(name(list.type.getDtype())) +
                     ", the element type of the sequence");
    // Without a position, SequenceInsert appends.
    size_t at = list.items.size();
    if (n.has_input(2)) {
      SCOPEVM_ASSIGN_OR_RETURN(at, position(n, 2, list.items.size(), true));
    }
    longer.items.insert(longer.items.begin() + static_cast<std::ptrdiff_t>(at), item);
    return Some(std::move(longer));
  }
  // Without a position, SequenceErase removes the last element. SequenceAt requires a position.
  size_t at = list.items.empty() ? 0 : list.items.size() - 1;
  if (n.has_input(1) || op == "SequenceAt") {
    SCOPEVM_ASSIGN_OR_RETURN(at, position(n, 1, list.items.size(), false));
  }
  if (list.items.empty()) return invalid("the sequence is empty");
  if (op == "SequenceAt") return Some(list.items[at]);
  Sequence shorter = list;
  shorter.items.erase(shorter.items.begin() + static_cast<std::ptrdiff_t>(at));
  return Some(std::move(shorter));
}

Result<GraphImporter::Item> GraphImporter::split_to_sequence(Node& n) {
  Value x = n.input(0);
  int64_t axis = n.axis(n.integer("axis", 0), n.rank(x));
  if (n.has_failed()) return n.status();
  bool keep_dims = n.has_input(1) || n.flag("keepdims", true);
  std::optional<Dims> known_sizes = part_sizes(n, x, axis);
  if (n.has_failed()) return n.status();
  if (!known_sizes) {
    SCOPEVM_ASSIGN_OR_RETURN(Value list, split_at_run_time(n, axis, keep_dims));
    return Item(list);
  }
  llvm::SmallVector<Value> parts;
  Dims starts(static_cast<size_t>(n.rank(x)), DimExpr(0)), sizes(n.shape(x));
  DimExpr at = 0;
  for (DimExpr size : *known_sizes) {
    starts[axis] = at;
    sizes[axis] = size;
    at = at + size;
    Value part = n.slice(x, starts, sizes);
    Dims rest = sizes;
    rest.erase(rest.begin() + axis);
    parts.push_back(keep_dims ? part : n.reshape(part, rest));
  }
  n.require_equal(at, n.dim(x, axis), "the parts add up to {0}, but the dim is {1}");
  if (n.has_failed()) return n.status();
  // sequence_of() derives the type from the parts, so it needs at least one.
  if (parts.empty())
    return Item(Sequence{ListType::get(&context_, ValueKind::kSequence, n.dtype(x)), {}});
  SCOPEVM_ASSIGN_OR_RETURN(Sequence list, sequence_of(parts));
  return Item(std::move(list));
}

Result<Value> GraphImporter::concat_from_sequence(Node& n, const Sequence& list) {
  if (list.items.empty()) return invalid("the sequence is empty");
  bool has_new_axis = n.flag("new_axis", false);
  int64_t rank = n.rank(list.items.front()) + (has_new_axis ? 1 : 0);
  int64_t axis = n.axis(n.integer("axis"), rank);
  llvm::SmallVector<Value> parts;
  for (Value part : list.items) parts.push_back(has_new_axis ? n.unsqueeze(part, {axis}) : part);
  if (parts.size() == 1) return parts.front();
  return n.emit<graph::ConcatOp>(parts, {n.attr("axis", axis)});
}

// Imports the body once per element if the lengths of all sequences are known and not 0, else as a
// loop.
Status GraphImporter::import_sequence_map(Node& n) {
  const onnx::AttributeProto* body = n.attribute("body", onnx::AttributeProto::GRAPH);
  if (!body) return invalid("attribute \"body\" is missing");
  for (const std::string& name : n.proto().input())
    if (is_list(name) && !sequences_.contains(name)) return map_lists(n, body->g());
  auto first = sequences_.find(n.proto().input_size() > 0 ? n.proto().input(0) : "");
  if (first == sequences_.end()) return invalid("input 0 is not a sequence");
  const size_t size = first->second.items.size();
  if (size == 0) return map_lists(n, body->g());  // the loop provides the result types
  std::vector<llvm::SmallVector<Value>> results(n.output_count());
  for (size_t i = 0; i < size; ++i) {
    llvm::SmallVector<Value> inputs;
    for (int input = 0; input < n.proto().input_size(); ++input) {
      auto list = sequences_.find(n.proto().input(input));
      if (list != sequences_.end() && list->second.items.size() != size)
        return invalid("its sequences have " + std::to_string(size) + " and " +
                       std::to_string(list->second.items.size()) +
                       " elements, expected the same number");
      inputs.push_back(list != sequences_.end() ? list->second.items[i]
                                                : n.input(static_cast<size_t>(input)));
    }
    if (n.has_failed()) return n.status();
    SCOPEVM_ASSIGN_OR_RETURN(auto outputs, import_subgraph(body->g(), inputs));
    if (outputs.size() != results.size())
      return invalid("its body has " + runtime::count_text(outputs.size(), "output") +
                     ", expected " + std::to_string(results.size()));
    for (size_t o = 0; o < outputs.size(); ++o) results[o].push_back(outputs[o]);
  }
  for (size_t o = 0; o < results.size(); ++o) {
    SCOPEVM_ASSIGN_OR_RETURN(sequences_[n.proto().output(static_cast<int>(o))],
                             sequence_of(results[o]));
  }
  return {};
}

}  // namespace scopevm::compiler::frontend
