// Symbol tables for references; see reference.h.
#include "vm/format/assembly/code/reference.h"

#include "vm/format/assembly/spelling.h"

namespace scopevm::format::assembly {

using isa::FieldForm;

References::References(const ModuleContents& module) : tables_(isa::kFieldFormCount) {
  for (const FunctionDecl& f : module.functions) table(FieldForm::function_form).add(f.name);
  for (const ShapeFunctionDecl& f : module.shape_functions)
    table(FieldForm::shape_fn_form).add(f.symbol);
  // A launch has the name of its kernel.
  for (const LaunchDecl& l : module.launches)
    table(FieldForm::launch_form)
        .add(l.kernel < module.kernels.size() ? module.kernels[l.kernel].symbol
                                              : std::string_view());
  for (const ConstantDecl& c : module.constants) table(FieldForm::constant_form).add(c.name);
  for (const PoolDecl& p : module.pools) table(FieldForm::pool_form).add(p.scope);
  for (const std::string& m : module.messages) table(FieldForm::message_form).add(m);
}

std::string References::print(FieldForm form, uint32_t index) const {
  const std::vector<std::string_view>& names = table(form).names;
  // A name that occurs twice denotes its first entry, so later entries are printed as an index.
  if (index >= names.size() || find(form, names[index]) != index)
    return "#" + std::to_string(index);
  std::string out = "@";
  if (is_plain_name(names[index]))
    out += names[index];
  else
    append_quoted(out, names[index]);
  return out;
}

std::optional<uint32_t> References::find(FieldForm form, std::string_view name) const {
  auto found = table(form).index_of.find(name);
  if (found == table(form).index_of.end()) return std::nullopt;
  return found->second;
}

}  // namespace scopevm::format::assembly
