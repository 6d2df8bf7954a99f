// Splits code into instructions, changes them and joins them again; see mutator.h.
#include "tests/vm/mutation/mutator.h"

#include <algorithm>
#include <utility>

#include "vm/isa/instruction.h"

namespace scopevm::test {
namespace {

using isa::FieldForm;
using isa::Instruction;

// The position of each target word in the words of an instruction.
std::vector<size_t> targets_in(std::span<const uint32_t> words) {
  std::vector<size_t> at;
  const Instruction in = isa::verified_instruction(words, 0);
  for (const Instruction::Field& field : in.fields())
    if (field.form() == FieldForm::target_form)
      at.push_back(static_cast<size_t>(field.words.data() - words.data()));
  return at;
}

std::vector<std::vector<uint32_t>> split(const std::vector<uint32_t>& code) {
  std::vector<std::vector<uint32_t>> instructions;
  std::vector<uint32_t> index_of(code.size());
  for (size_t at = 0; at < code.size(); at += isa::word_count(code[at])) {
    index_of[at] = static_cast<uint32_t>(instructions.size());
    const auto begin = code.begin() + static_cast<std::ptrdiff_t>(at);
    instructions.emplace_back(begin, begin + isa::word_count(code[at]));
  }
  for (std::vector<uint32_t>& words : instructions)
    for (size_t at : targets_in(words)) words[at] = index_of[words[at]];
  return instructions;
}

std::vector<uint32_t> join(std::vector<std::vector<uint32_t>> instructions) {
  std::vector<uint32_t> starts, code;
  uint32_t size = 0;
  for (const std::vector<uint32_t>& words : instructions) {
    starts.push_back(size);
    size += static_cast<uint32_t>(words.size());
  }
  for (std::vector<uint32_t>& words : instructions) {
    for (size_t at : targets_in(words)) words[at] = starts[words[at] % starts.size()];
    code.insert(code.end(), words.begin(), words.end());
  }
  return code;
}

}  // namespace

// Replaces a number by one below `usual_count`, a neighbour, or a large one.
void Mutator::change(uint32_t& number, size_t usual_count) {
  switch (below(6)) {
    case 0:
      number += below(2) == 0 ? 1 : UINT32_MAX;
      return;
    case 1:
      number = below(2) == 0 ? 1000000 : INT32_MAX;
      return;
    case 2:
      number ^= isa::kSlotBit;
      return;
    default:
      number = below(usual_count + 1);
  }
}

void Mutator::mutate_word(const format::FunctionDecl& function, std::vector<uint32_t>& words,
                          size_t instruction_count) {
  const Instruction in = isa::verified_instruction(words, 0);
  if (in.fields().empty()) return;
  const Instruction::Field& field = in.fields()[below(in.fields().size())];
  if (field.words.empty()) return;
  uint32_t& word =
      words[static_cast<size_t>(field.words.data() - words.data()) + below(field.words.size())];
  switch (field.form()) {
    case FieldForm::reg_form:
    case FieldForm::regs_form:
      word = below(function.register_count);
      return;
    case FieldForm::int_form:
    case FieldForm::ints_form:
      if (function.slot_count > 0 && below(2) == 0)
        word = isa::kSlotBit | below(function.slot_count);
      else
        change(word, 64);
      return;
    case FieldForm::slot_form:
      return change(word, function.slot_count);
    case FieldForm::target_form:
      word = below(instruction_count);
      return;
    default:
      change(word, 8);
  }
}

void Mutator::mutate_code(format::FunctionDecl& function) {
  Instructions instructions = split(function.code);
  const size_t count = instructions.size();
  const uint32_t at = below(count), other = below(count);
  switch (below(8)) {
    case 0:
      if (count > 1) instructions.erase(instructions.begin() + at);
      break;
    case 1: {
      // By value, because the insertion can move the elements.
      const std::vector<uint32_t> copy = instructions[other];
      instructions.insert(instructions.begin() + at, copy);
      break;
    }
    case 2:
      std::swap(instructions[at], instructions[other]);
      break;
    case 3:
      std::swap(instructions[at], instructions[(at + 1) % count]);
      break;
    default:
      mutate_word(function, instructions[at], count);
  }
  function.code = join(std::move(instructions));
  // The words of sources may no longer begin instructions.
  function.sources.clear();
}

void Mutator::mutate_function(format::ModuleContents& module) {
  format::FunctionDecl& function = module.functions[below(module.functions.size())];
  std::vector<format::TensorDecl>& values = below(2) == 0 ? function.inputs : function.outputs;
  switch (below(4)) {
    case 0:
      return change(function.register_count, 32);
    case 1:
      return change(function.slot_count, 64);
    case 2:
      if (function.memory.empty()) return;
      return change(function.memory[below(function.memory.size())].bytes_slot, 64);
    default:
      break;
  }
  if (values.empty()) return;
  format::TensorDecl& value = values[below(values.size())];
  switch (below(4)) {
    case 0:
      value.dtype = static_cast<DType>(below(kDTypeCount));
      return;
    case 1:
      return change(value.pool, module.pools.size());
    case 2:
      value.kind = static_cast<ValueKind>(below(kValueKindCount));
      return;
    default:
      if (value.dims.empty() || below(2) == 0)
        value.dims.emplace_back("3");
      else
        value.dims.pop_back();
  }
}

void Mutator::mutate_launch(format::ModuleContents& module) {
  if (module.launches.empty()) return;
  format::LaunchDecl& launch = module.launches[below(module.launches.size())];
  uint32_t* const numbers[] = {&launch.kernel, &launch.params.value, &launch.grid.bits,
                               &launch.grain.bits, &launch.read_only};
  if (!launch.bytes.empty() && below(3) == 0)
    return change(launch.bytes[below(launch.bytes.size())].bits, 64);
  if (below(6) == 0) {
    launch.shape_function = static_cast<int32_t>(below(module.shape_functions.size() + 1)) - 1;
    return;
  }
  change(*numbers[below(std::size(numbers))], 64);
}

void Mutator::mutate_shape_function(format::ModuleContents& module) {
  if (module.shape_functions.empty()) return;
  const auto count = static_cast<uint32_t>(module.shape_functions.size());
  format::ShapeFunctionDecl& function = module.shape_functions[below(count)];
  switch (below(5)) {
    case 0:
      return change(function.slot_count, 64);
    case 1:
      return change(function.first_slot, 64);
    case 2:
      return change(function.dim_count, 8);
    case 3:
      function.follows = static_cast<int32_t>(below(count + 1)) - 1;
      return;
    default:
      function.symbol = module.shape_functions[below(count)].symbol;
  }
}

void Mutator::mutate_constant(format::ModuleContents& module) {
  if (module.constants.empty()) return;
  format::ConstantDecl& constant = module.constants[below(module.constants.size())];
  switch (below(4)) {
    case 0:
      constant.dtype = static_cast<DType>(below(kDTypeCount));
      return;
    case 1:
      return change(constant.pool, module.pools.size());
    case 2:
      // Other values of the same size, or another size.
      constant.bytes = module.constants[below(module.constants.size())].bytes;
      return;
    default:
      std::swap(constant, module.constants[below(module.constants.size())]);
  }
}

void Mutator::mutate_table(format::ModuleContents& module) {
  switch (below(6)) {
    case 0:
      return mutate_launch(module);
    case 1:
      return mutate_shape_function(module);
    case 2:
      return mutate_constant(module);
    case 3: {
      format::PoolDecl& pool = module.pools[below(module.pools.size())];
      if (below(2) == 0)
        pool.kind = static_cast<format::PoolKind>(below(4));
      else
        pool.limit = int64_t{below(3)} * 64 - 1;
      return;
    }
    default:
      mutate_function(module);
  }
}

void Mutator::mutate(format::ModuleContents& module) {
  // Most changes are in the code. The loader rejects changed launches by their checksum.
  if (below(8) == 0) return mutate_table(module);
  mutate_code(module.functions[below(module.functions.size())]);
}

}  // namespace scopevm::test
