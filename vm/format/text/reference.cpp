// See the header.
#include "vm/format/text/reference.h"

#include "vm/format/text/spelling.h"

namespace scopevm::format::text {

using isa::FieldType;

bool References::is_reference(FieldType type) {
  return type == FieldType::function_field || type == FieldType::shape_fn_field ||
         type == FieldType::kernel_field || type == FieldType::constant_field ||
         type == FieldType::pool_field || type == FieldType::message_field;
}

References::References(const ModuleContents& module)
    : tables_(static_cast<size_t>(FieldType::target_field) + 1) {
  for (const FunctionDecl& f : module.functions) table(FieldType::function_field).add(f.name);
  for (const ShapeFunctionDecl& f : module.shape_functions)
    table(FieldType::shape_fn_field).add(f.symbol);
  for (const KernelDecl& k : module.kernels) table(FieldType::kernel_field).add(k.symbol);
  for (const ConstantDecl& c : module.constants) table(FieldType::constant_field).add(c.name);
  for (const PoolDecl& p : module.pools) table(FieldType::pool_field).add(p.scope);
  for (const std::string& m : module.messages) table(FieldType::message_field).add(m);
}

std::string References::print(FieldType type, uint32_t index) const {
  const std::vector<std::string_view>& names = table(type).names;
  if (index >= names.size() || find(type, names[index]) != index)
    return "#" + std::to_string(index);
  std::string out = "@";
  if (is_plain_name(names[index]))
    out += names[index];
  else
    append_quoted(out, names[index]);
  return out;
}

std::optional<uint32_t> References::find(FieldType type, std::string_view name) const {
  auto found = table(type).index_of.find(name);
  if (found == table(type).index_of.end()) return std::nullopt;
  return found->second;
}

}  // namespace scopevm::format::text
