// Nodes against the definitions of their ops; see node_schema.h.
#include "compiler/import/model/node_schema.h"

#include <onnx/defs/schema.h>

#include <limits>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "compiler/import/invalid.h"
#include "runtime/count_text.h"

namespace scopevm::compiler::frontend {
namespace {

// The inputs and attributes of an op from opset `since` on.
struct Definition {
  std::string_view op;
  int since;
  int most_inputs;
  std::string_view attributes;  // names, separated by spaces
};

// Ops that opsets 18 to 22 add, or whose inputs or attributes they change. The libonnx of Debian 12
// ends at opset 17. Rows of one op are in order of `since`.
constexpr Definition kDefinitions[] = {
    {"AffineGrid", 20, 2, "align_corners"},
    {"AveragePool", 19, 1,
     "auto_pad ceil_mode count_include_pad dilations kernel_shape pads strides"},
    {"BitwiseAnd", 18, 2, ""},
    {"BitwiseNot", 18, 1, ""},
    {"BitwiseOr", 18, 2, ""},
    {"BitwiseXor", 18, 2, ""},
    {"Cast", 19, 1, "saturate to"},
    {"CastLike", 19, 2, "saturate"},
    {"CenterCropPad", 18, 2, "axes"},
    {"Col2Im", 18, 3, "dilations pads strides"},
    {"DFT", 20, 3, "inverse onesided"},
    {"DeformConv", 19, 5, "dilations group kernel_shape offset_group pads strides"},
    {"DequantizeLinear", 21, 3, "axis block_size"},
    {"Gelu", 20, 1, "approximate"},
    {"GroupNormalization", 18, 3, "epsilon num_groups"},
    {"GroupNormalization", 21, 3, "epsilon num_groups stash_type"},
    {"ImageDecoder", 20, 1, "pixel_format"},
    {"LpPool", 18, 1, "auto_pad ceil_mode dilations kernel_shape p pads strides"},
    {"Mish", 18, 1, ""},
    {"Pad", 18, 4, "mode"},
    {"QuantizeLinear", 19, 3, "axis saturate"},
    {"QuantizeLinear", 21, 3, "axis block_size output_dtype saturate"},
    {"ReduceL1", 18, 2, "keepdims noop_with_empty_axes"},
    {"ReduceL2", 18, 2, "keepdims noop_with_empty_axes"},
    {"ReduceLogSum", 18, 2, "keepdims noop_with_empty_axes"},
    {"ReduceLogSumExp", 18, 2, "keepdims noop_with_empty_axes"},
    {"ReduceMax", 18, 2, "keepdims noop_with_empty_axes"},
    {"ReduceMean", 18, 2, "keepdims noop_with_empty_axes"},
    {"ReduceMin", 18, 2, "keepdims noop_with_empty_axes"},
    {"ReduceProd", 18, 2, "keepdims noop_with_empty_axes"},
    {"ReduceSumSquare", 18, 2, "keepdims noop_with_empty_axes"},
    {"RegexFullMatch", 20, 1, "pattern"},
    {"Resize", 18, 4,
     "antialias axes coordinate_transformation_mode cubic_coeff_a exclude_outside "
     "extrapolation_value keep_aspect_ratio_policy mode nearest_mode"},
    {"Split", 18, 2, "axis num_outputs"},
    {"StringConcat", 20, 2, ""},
    {"StringSplit", 20, 1, "delimiter maxsplit"},
};

struct Signature {
  int most_inputs = std::numeric_limits<int>::max();
  std::set<int> required_inputs;
  std::set<std::string, std::less<>> attributes;
};

Signature signature_of(const Definition& definition) {
  Signature signature{definition.most_inputs, {}, {}};
  std::string_view rest = definition.attributes;
  while (!rest.empty()) {
    const size_t end = std::min(rest.find(' '), rest.size());
    signature.attributes.emplace(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return signature;
}

// The newer one of the definition in libonnx and that in the table. No value if there is none.
std::optional<Signature> find_signature(const std::string& op, int opset) {
  const onnx::OpSchema* schema = onnx::OpSchemaRegistry::Schema(op, opset, onnx::ONNX_DOMAIN);
  const Definition* newest = nullptr;
  for (const Definition& row : kDefinitions)
    if (row.op == op && row.since <= opset && (!schema || row.since > schema->since_version()))
      newest = &row;
  if (!newest && !schema) return std::nullopt;
  Signature signature;
  if (newest) {
    signature = signature_of(*newest);
  } else {
    signature.most_inputs = schema->max_input();
    for (const auto& [name, attribute] : schema->attributes()) signature.attributes.insert(name);
  }
  // No opset from 18 to 22 makes a required input optional.
  if (schema)
    for (int i = 0; i < static_cast<int>(schema->inputs().size()); ++i)
      if (schema->inputs()[static_cast<size_t>(i)].GetOption() == onnx::OpSchema::Single)
        signature.required_inputs.insert(i);
  return signature;
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

Status check_schema(const onnx::NodeProto& node, int opset) {
  const std::optional<Signature> signature = find_signature(node.op_type(), opset);
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
