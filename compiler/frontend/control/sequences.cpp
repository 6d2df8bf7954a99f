// ONNX sequences and optionals whose lengths are known at compile time: lists of values that no
// kernel and no tensor stands for. An optional is a sequence of none or one.
#include "compiler/frontend/graph_importer.h"

namespace scopevm::frontend {
namespace {

Status invalid(const std::string& message) { return Status(StatusCode::kInvalidModel, message); }

// A position in a list of `size`; negative ones count from the end. `size` itself when may_append.
Result<size_t> position(Node& n, size_t input, size_t size, bool may_append) {
  Ints at = n.integers_of(n.input(input), "the position");
  if (n.has_failed()) return n.status();
  if (at.size() != 1) return invalid("the position must be one number");
  auto count = static_cast<int64_t>(size);
  int64_t index = at[0] < 0 ? at[0] + count : at[0];
  if (index >= 0 && index < count + (may_append ? 1 : 0)) return static_cast<size_t>(index);
  return invalid("position " + std::to_string(at[0]) + " is outside a sequence of " +
                 std::to_string(size));
}

// The sizes of the parts that x is split into along `axis`.
Ints part_sizes(Node& n, Value x, int64_t axis) {
  std::optional<int64_t> dim = n.dim(x, axis).as_constant();
  if (!dim) return n.unsupported("how many parts there are depends on the request"), Ints();
  if (!n.has_input(1)) return Ints(static_cast<size_t>(*dim), 1);
  Ints given = n.integers_of(n.input(1), "the split");
  if (n.has_failed() || n.rank(n.input(1)) > 0) return given;
  if (given[0] < 1) return n.fail("a part has " + llvm::Twine(given[0]) + " elements"), Ints();
  Ints sizes;
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
  return proto.op_type() == "Identity" && proto.input_size() == 1 &&
         sequences_.contains(proto.input(0));
}

Result<GraphImporter::Sequence> GraphImporter::sequence(const Node& n, int input) const {
  const std::string& name = n.proto().input(input);
  if (auto found = sequences_.find(name); found != sequences_.end()) return found->second;
  return invalid("input " + std::to_string(input) + " \"" + name + "\" is no sequence");
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

// The ops' one result each.
Result<GraphImporter::Item> GraphImporter::sequence_op(Node& n) {
  const std::string& op = n.proto().op_type();
  if (op == "SequenceConstruct") return Item(n.inputs());
  if (op == "SequenceEmpty") return Item(Sequence());
  if (op == "Optional") {
    if (!n.has_input(0)) return Item(Sequence());
    if (sequences_.contains(n.proto().input(0)))
      return Status(StatusCode::kUnsupported, "an optional sequence is not supported");
    return Item(Sequence{n.input(0)});
  }
  if (op == "SplitToSequence") {
    SCOPEVM_ASSIGN_OR_RETURN(Sequence parts, split_to_sequence(n));
    return Item(parts);
  }
  if (n.input_count() == 0) return invalid("it has no inputs");
  bool is_tensor = value(n.proto().input(0)) != nullptr;  // an optional that is always there
  if (op == "OptionalHasElement" && is_tensor) return Item(n.constant({}, DType::kBool, {1}));
  if (op == "OptionalGetElement" && is_tensor) return Item(n.input(0));
  SCOPEVM_ASSIGN_OR_RETURN(Sequence list, sequence(n, 0));
  if (op == "Identity") return Item(list);
  if (op == "SequenceLength") return Item(n.dims_value({static_cast<int64_t>(list.size())}, true));
  if (op == "OptionalHasElement")
    return Item(n.constant({}, DType::kBool, {static_cast<char>(!list.empty())}));
  if (op == "OptionalGetElement") {
    if (list.empty()) return invalid("the optional is empty");
    return Item(list.front());
  }
  if (op == "SequenceInsert") {
    size_t at = list.size();
    if (n.has_input(2)) {
      SCOPEVM_ASSIGN_OR_RETURN(at, position(n, 2, list.size(), true));
    }
    list.insert(list.begin() + static_cast<std::ptrdiff_t>(at), n.input(1));
    return Item(list);
  }
  if (op == "ConcatFromSequence") {
    SCOPEVM_ASSIGN_OR_RETURN(Value whole, concat_from_sequence(n, list));
    return Item(whole);
  }
  size_t at = list.empty() ? 0 : list.size() - 1;
  if (n.has_input(1) || op == "SequenceAt") {
    SCOPEVM_ASSIGN_OR_RETURN(at, position(n, 1, list.size(), false));
  }
  if (list.empty()) return invalid("the sequence is empty");
  if (op == "SequenceAt") return Item(list[at]);
  list.erase(list.begin() + static_cast<std::ptrdiff_t>(at));
  return Item(list);
}

Result<GraphImporter::Sequence> GraphImporter::split_to_sequence(Node& n) {
  Value x = n.input(0);
  int64_t axis = n.axis(n.integer("axis", 0), n.rank(x));
  if (n.has_failed()) return n.status();
  bool keep_dims = n.has_input(1) || n.flag("keepdims", true);
  Sequence parts;
  Dims starts(static_cast<size_t>(n.rank(x)), DimExpr(0)), sizes(n.shape(x));
  int64_t at = 0;
  for (int64_t size : part_sizes(n, x, axis)) {
    starts[axis] = at;
    sizes[axis] = size;
    at += size;
    Value part = n.slice(x, starts, sizes);
    Dims rest = sizes;
    rest.erase(rest.begin() + axis);
    parts.push_back(keep_dims ? part : n.reshape(part, rest));
  }
  if (!n.has_failed() && !n.dim(x, axis).is_constant(at))
    return invalid("the parts add up to " + std::to_string(at) + ", the dim is " +
                   n.dim(x, axis).str());
  return parts;
}

Result<Value> GraphImporter::concat_from_sequence(Node& n, const Sequence& list) {
  if (list.empty()) return invalid("the sequence is empty");
  bool has_new_axis = n.flag("new_axis", false);
  int64_t rank = n.rank(list.front()) + (has_new_axis ? 1 : 0);
  int64_t axis = n.axis(n.integer("axis"), rank);
  Sequence parts;
  for (Value part : list) parts.push_back(has_new_axis ? n.unsqueeze(part, {axis}) : part);
  if (parts.size() == 1) return parts.front();
  return n.emit<graph::ConcatOp>(parts, {n.attr("axis", axis)});
}

// The body once for each element.
Status GraphImporter::import_sequence_map(Node& n) {
  const onnx::AttributeProto* body = n.attribute("body", onnx::AttributeProto::GRAPH);
  if (!body) return invalid("attribute \"body\" is missing");
  SCOPEVM_ASSIGN_OR_RETURN(const Sequence first, sequence(n, 0));
  std::vector<Sequence> results(n.output_count());
  for (size_t i = 0; i < first.size(); ++i) {
    Sequence inputs;
    for (int input = 0; input < n.proto().input_size(); ++input) {
      auto list = sequences_.find(n.proto().input(input));
      if (list != sequences_.end() && i >= list->second.size())
        return invalid("its sequences have different lengths");
      inputs.push_back(list != sequences_.end() ? list->second[i]
                                                : n.input(static_cast<size_t>(input)));
    }
    SCOPEVM_ASSIGN_OR_RETURN(auto outputs, import_subgraph(body->g(), inputs));
    if (outputs.size() != results.size()) return invalid("its body has another number of outputs");
    for (size_t o = 0; o < outputs.size(); ++o) results[o].push_back(outputs[o]);
  }
  for (size_t o = 0; o < results.size(); ++o)
    sequences_[n.proto().output(static_cast<int>(o))] = std::move(results[o]);
  return {};
}

}  // namespace scopevm::frontend
