// Function bodies; see function_body.h. libonnx throws exceptions, which this file catches.
#include "compiler/import/model/function_body.h"

#include <onnx/defs/schema.h>

#include <exception>
#include <map>
#include <string>

namespace scopevm::compiler::frontend {
namespace {

using Attributes = std::map<std::string, onnx::AttributeProto>;

// Replaces the attribute references of the nodes, and of the nodes in their subgraphs, by the
// values of these attributes. A reference to an attribute without a value is removed.
void bind_attributes(google::protobuf::RepeatedPtrField<onnx::NodeProto>& nodes,
                     const Attributes& values) {
  for (auto& node : nodes) {
    google::protobuf::RepeatedPtrField<onnx::AttributeProto> bound;
    for (const auto& attribute : node.attribute()) {
      if (attribute.ref_attr_name().empty()) {
        onnx::AttributeProto& own = *bound.Add();
        own = attribute;
        if (own.has_g()) bind_attributes(*own.mutable_g()->mutable_node(), values);
        continue;
      }
      auto value = values.find(attribute.ref_attr_name());
      if (value == values.end()) continue;
      *bound.Add() = value->second;
      bound.Mutable(bound.size() - 1)->set_name(attribute.name());
    }
    node.mutable_attribute()->Swap(&bound);
  }
}

Attributes attributes_of(const onnx::NodeProto& node) {
  Attributes values;
  for (const auto& attribute : node.attribute()) values[attribute.name()] = attribute;
  return values;
}

std::unique_ptr<onnx::FunctionProto> defined_function(
    const onnx::NodeProto& node, int opset, const std::vector<onnx::TypeProto>& input_types,
    Attributes& attributes) {
  const onnx::OpSchema* schema =
      onnx::OpSchemaRegistry::Schema(node.op_type(), opset, node.domain());
  if (!schema) return nullptr;
  for (const auto& [name, attribute] : schema->attributes())
    if (attribute.default_value.has_name()) attributes.try_emplace(name, attribute.default_value);
  if (schema->HasFunction()) return std::make_unique<onnx::FunctionProto>(*schema->GetFunction());
  if (!schema->HasContextDependentFunction()) return nullptr;
  // The body builders require that attributes with default values are present.
  onnx::NodeProto full = node;
  full.clear_attribute();
  for (const auto& [name, attribute] : attributes) *full.add_attribute() = attribute;
  auto body = std::make_unique<onnx::FunctionProto>();
  onnx::FunctionBodyBuildContextImpl context(full, input_types);
  return schema->BuildContextDependentFunction(context, *body) ? std::move(body) : nullptr;
}

}  // namespace

const onnx::FunctionProto* find_model_function(const onnx::ModelProto& model,
                                               const onnx::NodeProto& node) {
  for (const onnx::FunctionProto& function : model.functions())
    if (function.name() == node.op_type() && function.domain() == node.domain()) return &function;
  return nullptr;
}

std::unique_ptr<onnx::FunctionProto> function_body(
    const onnx::ModelProto& model, const onnx::NodeProto& node, int opset,
    const std::vector<onnx::TypeProto>& input_types) {
  try {
    Attributes attributes = attributes_of(node);
    // A function of the model takes precedence over the standard definition. ONNX leaves the
    // precedence to the runtime.
    const onnx::FunctionProto* own = find_model_function(model, node);
    std::unique_ptr<onnx::FunctionProto> body =
        own ? std::make_unique<onnx::FunctionProto>(*own)
            : defined_function(node, opset, input_types, attributes);
    if (body) bind_attributes(*body->mutable_node(), attributes);
    return body;
  } catch (const std::bad_alloc&) {
    throw;  // the body may exist
  } catch (const std::exception&) {
    return nullptr;
  }
}

bool has_typed_body(const onnx::NodeProto& node, int opset) {
  const onnx::OpSchema* schema =
      onnx::OpSchemaRegistry::Schema(node.op_type(), opset, node.domain());
  return schema != nullptr && schema->HasContextDependentFunction();
}

}  // namespace scopevm::compiler::frontend
