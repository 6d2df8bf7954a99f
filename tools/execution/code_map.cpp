// Looks up instructions in the tables of a module; see code_map.h.
#include "tools/execution/code_map.h"

#include <algorithm>
#include <span>

namespace scopevm::tool {
namespace {

using isa::Instruction;
using isa::RuleKind;

bool contains(std::span<const uint32_t> words, uint32_t reg) {
  return std::ranges::find(words, reg) != words.end();
}

const format::LaunchDecl* launch_of(const format::ModuleContents& module, const Instruction& in) {
  for (const Instruction::Field& field : in.fields())
    if (field.form() == isa::FieldForm::launch_form) return &module.launches[field.words[0]];
  return nullptr;
}

}  // namespace

// A kernel's temporary is a new tensor of bytes that only the launch uses. Launches do not say
// which of their last buffers are temporaries. A result is used again by another instruction.
bool CodeMap::is_temporary(InstructionPlace place, const Instruction& launch, uint32_t reg) const {
  const std::vector<uint32_t>& code = function(place).code;
  const isa::OpcodeRow* definition = nullptr;
  DType dtype = DType::kF32;
  for (uint32_t word = 0; word < place.word; word += isa::word_count(code[word])) {
    const Instruction in = isa::verified_instruction(code, word);
    for (const Instruction::Field& field : in.fields()) {
      if (!isa::is_written(field.access()) || !contains(field.words, reg)) continue;
      definition = in.row;
      for (const Instruction::Field& other : in.fields())
        if (other.form() == isa::FieldForm::dtype_form) dtype = static_cast<DType>(other.words[0]);
    }
  }
  if (definition == nullptr || definition->opcode != isa::Opcode::alloc_tensor ||
      dtype != DType::kU8)
    return false;
  for (uint32_t word = launch.start + launch.word_count; word < code.size();
       word += isa::word_count(code[word])) {
    const Instruction in = isa::verified_instruction(code, word);
    for (const Instruction::Field& field : in.fields()) {
      if (!field.is_register() || !contains(field.words, reg)) continue;
      return field.access() == isa::Access::kWrite || field.access() == isa::Access::kRelease;
    }
  }
  return true;
}

std::vector<uint32_t> CodeMap::find_written_tensors(InstructionPlace place) const {
  const Instruction in = instruction(place);
  const format::LaunchDecl* const launch = launch_of(module_, in);
  std::vector<uint32_t> registers;
  for (const Instruction::Field& field : in.fields())
    for (const isa::Rule& rule : field.row->rules()) {
      if (rule.kind == RuleKind::writable)
        registers.insert(registers.end(), field.words.begin(), field.words.end());
      if (rule.kind != RuleKind::writable_in || launch == nullptr) continue;
      const auto& external = module_.kernels[launch->kernel].external;
      size_t end = external ? external->tensor_count() : field.words.size();
      end = std::min(end, field.words.size());
      while (!external && end > launch->read_only && is_temporary(place, in, field.words[end - 1]))
        --end;
      for (size_t i = launch->read_only; i < end; ++i) registers.push_back(field.words[i]);
    }
  return registers;
}

const std::vector<uint32_t>& CodeMap::written_tensors(InstructionPlace place) {
  const auto [found, is_new] = written_.try_emplace({place.function, place.word});
  if (is_new) found->second = find_written_tensors(place);
  return found->second;
}

std::string_view CodeMap::kernel(InstructionPlace place) const {
  const format::LaunchDecl* const launch = launch_of(module_, instruction(place));
  return launch == nullptr ? std::string_view() : module_.kernels[launch->kernel].symbol;
}

std::string_view CodeMap::op(InstructionPlace place) const {
  const auto& sources = function(place).sources;
  const auto found = std::ranges::find(sources, place.word, &format::SourceDecl::word);
  return found == sources.end() ? std::string_view() : found->name;
}

std::string_view CodeMap::name(InstructionPlace place) const {
  const std::string_view symbol = kernel(place);
  return symbol.empty() ? instruction(place).row->name : symbol;
}

std::string CodeMap::text(InstructionPlace place) const {
  return function(place).name + ":" + std::to_string(place.word);
}

InstructionPlace CodeMap::before(InstructionPlace place) const {
  const std::vector<uint32_t>& code = function(place).code;
  uint32_t word = 0;
  while (word + isa::word_count(code[word]) < place.word) word += isa::word_count(code[word]);
  return {place.function, word};
}

}  // namespace scopevm::tool
