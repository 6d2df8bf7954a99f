// Names and their values; see scope.h.
#include "compiler/import/scope/scope.h"

namespace scopevm::compiler::frontend {

mlir::Value Scope::find(const std::string& name) const {
  const auto found = values_.find(name);
  return found == values_.end() ? mlir::Value() : found->second;
}

bool Scope::define(const std::string& name, mlir::Value value) {
  return values_.try_emplace(name, value).second;
}

void Scope::bind(const std::string& name, mlir::Value value) {
  values_[name] = value;
  small_types_.erase(name);
}

const SmallType* Scope::small_type(const std::string& name) const {
  const auto found = small_types_.find(name);
  return found == small_types_.end() ? nullptr : found->second;
}

void Scope::set_small_type(const std::string& name, const SmallType* type) {
  if (type)
    small_types_[name] = type;
  else
    small_types_.erase(name);
}

void Scope::hide_names_of(const onnx::GraphProto& graph) {
  for (const auto& tensor : graph.initializer()) values_.erase(tensor.name());
  for (const auto& node : graph.node())
    for (const std::string& output : node.output()) values_.erase(output);
}

void Scope::declare_unsupported(const std::string& name, std::string reason) {
  unsupported_[name] = std::move(reason);
}

const std::string* Scope::why_unsupported(const std::string& name) const {
  const auto found = unsupported_.find(name);
  return found == unsupported_.end() ? nullptr : &found->second;
}

}  // namespace scopevm::compiler::frontend
