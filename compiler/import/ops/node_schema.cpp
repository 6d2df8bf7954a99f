// Nodes against the definitions of their ops; see node_schema.h.
#include "compiler/import/ops/node_schema.h"

#include <onnx/defs/schema.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "compiler/import/invalid.h"
#include "compiler/import/scope/opsets.h"
#include "runtime/count_text.h"

namespace scopevm::compiler::frontend {
namespace {

struct Signature {
  int most_inputs = 0;
  std::set<int> required_inputs;
  std::set<std::string, std::less<>> attributes;
};

// Calls `use` with each word of a list that is separated by spaces.
template <typename Use>
void for_each_word(std::string_view words, const Use& use) {
  while (!words.empty()) {
    const size_t end = std::min(words.find(' '), words.size());
    use(words.substr(0, end));
    words.remove_prefix(std::min(end + 1, words.size()));
  }
}

Signature signature_of(const OpSignature& row) {
  Signature signature{.most_inputs = 0, .required_inputs = {}, .attributes = {}};
  bool is_repeated = false;
  for_each_word(row.inputs, [&](std::string_view input) {
    is_repeated = input.ends_with("...");
    if (!is_repeated && !input.ends_with('?'))
      signature.required_inputs.insert(signature.most_inputs);
    ++signature.most_inputs;
  });
  if (is_repeated) signature.most_inputs = std::numeric_limits<int>::max();
  for_each_word(row.attributes, [&](std::string_view name) { signature.attributes.emplace(name); });
  return signature;
}

Signature signature_of(const onnx::OpSchema& schema) {
  Signature signature{.most_inputs = schema.max_input(), .required_inputs = {}, .attributes = {}};
  for (const auto& [name, attribute] : schema.attributes()) signature.attributes.insert(name);
  for (int i = 0; i < static_cast<int>(schema.inputs().size()); ++i)
    if (schema.inputs()[static_cast<size_t>(i)].GetOption() == onnx::OpSchema::Single)
      signature.required_inputs.insert(i);
  return signature;
}

// The newer one of the definition in libonnx and that of the row. No value if there is none.
std::optional<Signature> find_signature(const onnx::NodeProto& node, int opset, const OpRow* row) {
  const onnx::OpSchema* schema =
      onnx::OpSchemaRegistry::Schema(node.op_type(), opset, normalised_domain(node.domain()));
  const bool has_row = row != nullptr && row->signature.has_value();
  if (has_row && (schema == nullptr || row->since > schema->since_version()))
    return signature_of(*row->signature);
  if (schema == nullptr) return std::nullopt;
  return signature_of(*schema);
}

Status unknown_attribute(const onnx::NodeProto& node, const std::string& name,
                         const Signature& signature) {
  std::string known;
  for (const std::string& attribute : signature.attributes)
    known += (known.empty() ? "" : ", ") + attribute;
  return invalid("unknown attribute \"" + name + "\"; " +
                 (known.empty() ? node.op_type() + " has no attributes" : "known: " + known));
}

}  // namespace

Status check_schema(const onnx::NodeProto& node, int opset, const OpRow* row) {
  const std::optional<Signature> signature = find_signature(node, opset, row);
  if (!signature) return {};
  if (node.input_size() > signature->most_inputs)
    return invalid("the node has " + runtime::count_text(node.input_size(), "input") +
                   ", expected at most " + std::to_string(signature->most_inputs));
  for (int i : signature->required_inputs)
    if (i >= node.input_size() || node.input(i).empty())
      return invalid("input " + std::to_string(i) + " is missing");
  std::set<std::string, std::less<>> given;
  for (const onnx::AttributeProto& attribute : node.attribute()) {
    const std::string& name = attribute.name();
    // The standard leaves such names to tools, which annotate nodes with them.
    if (name.starts_with("__")) continue;
    if (!given.insert(name).second) return invalid("attribute \"" + name + "\" is given twice");
    if (!signature->attributes.contains(name)) return unknown_attribute(node, name, *signature);
  }
  return {};
}

}  // namespace scopevm::compiler::frontend
