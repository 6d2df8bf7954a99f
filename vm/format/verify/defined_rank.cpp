// The rank that each kind of definition gives to a written register; see defined_rank.h.
#include "vm/format/verify/defined_rank.h"

namespace scopevm::format {

uint32_t defined_rank(const ModuleContents& module, const isa::Instruction& in,
                      const isa::Instruction::Field& field, uint32_t i) {
  using isa::DefinitionKind;
  const isa::Definition& definition = *field.row->definition;
  switch (definition.kind) {
    case DefinitionKind::makes_tensor:
      return static_cast<uint32_t>(in.field(definition, 4).words.size());
    case DefinitionKind::makes_view:
      return static_cast<uint32_t>(in.field(definition, 2).words.size());
    case DefinitionKind::makes_constant:
      return static_cast<uint32_t>(module.constants[in.word(definition, 0)].dims.size());
    case DefinitionKind::makes_element:
      return static_cast<uint32_t>(in.integer(definition, 1).immediate_value());
    case DefinitionKind::makes_outputs: {
      const TensorDecl& output = module.functions[in.word(definition, 0)].outputs[i];
      return static_cast<uint32_t>(output.dims.size());
    }
    case DefinitionKind::makes_types:
      return isa::ValueType::from_word(in.field(definition, 0).words[i]).rank;
    // The definition of the copied register determines the rank of the copy. The values of the
    // other kinds have no dims.
    case DefinitionKind::makes_copy:
    case DefinitionKind::makes_storage:
    case DefinitionKind::makes_list:
    case DefinitionKind::makes_closure:
    case DefinitionKind::enlarged:
    case DefinitionKind::changed:
      return 0;
  }
  return 0;
}

}  // namespace scopevm::format
