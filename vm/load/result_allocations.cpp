// Finds result allocations by following single definitions backwards; see result_allocations.h.
#include "vm/load/result_allocations.h"

#include <algorithm>
#include <optional>
#include <span>

#include "vm/isa/instruction.h"

namespace scopevm::vm {
namespace {

using isa::Definition;
using isa::DefinitionKind;
using isa::Instruction;

// The number of writes and reads of each register, its last definition, and the loops.
class Definitions {
 public:
  explicit Definitions(const format::FunctionDecl& function)
      : code_(function.code), registers_(function.register_count) {
    for (uint32_t i = 0; i < function.inputs.size(); ++i) ++registers_[i].writes;
    for (uint32_t pc = 0; pc < code_.size(); pc += isa::word_count(code_[pc])) add(at(pc));
  }

  // The returned registers if the function has exactly one `ret`, else empty.
  std::span<const uint32_t> only_return() const {
    return return_count_ == 1 ? returned_ : std::span<const uint32_t>();
  }

  // The single definition of `reg`, if it has exactly one.
  struct Write {
    Instruction in;
    Definition definition;
  };
  std::optional<Write> only_write(uint32_t reg) const {
    const Uses& uses = registers_[reg];
    if (uses.writes != 1 || uses.definition == nullptr) return std::nullopt;
    return Write{at(uses.word), *uses.definition};
  }
  uint32_t reads(uint32_t reg) const { return registers_[reg].reads; }

  // Whether the instruction at `word` can execute more than once per call: a backward jump spans
  // it.
  bool is_in_loop(uint32_t word) const {
    return std::ranges::any_of(loops_, [word](const Loop& loop) {
      return loop.first_word <= word && word <= loop.jump_word;
    });
  }

  // The word index of a field's first word, or of a list's count word.
  uint32_t word_of(const Instruction::Field& field) const {
    return static_cast<uint32_t>(field.words.data() - code_.data()) - isa::is_list(field.form());
  }

 private:
  struct Uses {
    uint32_t writes = 0;
    uint32_t reads = 0;  // does not count `kill` and other releases
    uint32_t word = 0;   // word index of the last definition
    const Definition* definition = nullptr;
  };

  struct Loop {
    uint32_t first_word;
    uint32_t jump_word;
  };

  Instruction at(uint32_t word) const { return isa::verified_instruction(code_, word); }

  void add(const Instruction& in) {
    for (const Instruction::Field& field : in.fields()) {
      for (const isa::Rule& rule : field.row->rules())
        if (rule.kind == isa::RuleKind::returned) {
          ++return_count_;
          returned_ = field.words;
        }
      if (field.form() == isa::FieldForm::target_form && field.words[0] <= in.start)
        loops_.push_back({field.words[0], in.start});
      if (!field.is_register()) continue;
      for (uint32_t reg : field.words) add(in, field, registers_[reg]);
    }
  }

  static void add(const Instruction& in, const Instruction::Field& field, Uses& uses) {
    if (is_read(field.access()) && field.access() != isa::Access::kRelease) ++uses.reads;
    if (!is_written(field.access())) return;
    ++uses.writes;
    uses.word = in.start;
    uses.definition = &*field.row->definition;
  }

  std::span<const uint32_t> code_;
  std::vector<Uses> registers_;
  std::span<const uint32_t> returned_;
  uint32_t return_count_ = 0;
  std::vector<Loop> loops_;
};

// Follows the use-def chain from a returned register to the allocation of its storage.
std::optional<ResultAllocation> trace_back(const format::ModuleContents& module,
                                           const Definitions& definitions, uint32_t reg) {
  ResultAllocation allocation;
  std::optional<Definitions::Write> write = definitions.only_write(reg);
  const bool is_view = write && write->definition.kind == DefinitionKind::makes_view;
  if (is_view) allocation.dims_word = definitions.word_of(write->in.field(write->definition, 2));
  // Views of views share the bytes of the first tensor.
  while (write && write->definition.kind == DefinitionKind::makes_view)
    write = definitions.only_write(write->in.word(write->definition, 0));
  if (!write || write->definition.kind != DefinitionKind::makes_tensor) return std::nullopt;
  if (!is_view) allocation.dims_word = definitions.word_of(write->in.field(write->definition, 4));

  const uint32_t storage = write->in.word(write->definition, 0);
  const isa::Int offset = write->in.integer(write->definition, 1);
  const isa::Int bytes = write->in.integer(write->definition, 2);
  write = definitions.only_write(storage);
  if (!write || write->definition.kind != DefinitionKind::makes_storage) return std::nullopt;
  const bool is_whole =
      offset == isa::Int::immediate(0) && bytes == write->in.integer(write->definition, 1);
  // Another instruction that reads the storage register could create a second tensor in the
  // storage.
  if (!is_whole || definitions.reads(storage) != 1) return std::nullopt;
  // Each iteration requires a distinct storage, but there is only one output buffer.
  if (definitions.is_in_loop(write->in.start)) return std::nullopt;
  // The caller's buffer is not in the memory that the other device accesses.
  if (module.sharing_device(module.pools[write->in.word(write->definition, 0)]))
    return std::nullopt;
  allocation.alloc_word = write->in.start;
  return allocation;
}

}  // namespace

std::vector<ResultAllocation> find_result_allocations(const format::ModuleContents& module,
                                                      const format::FunctionDecl& function) {
  std::vector<ResultAllocation> allocations;
  const Definitions definitions(function);
  const std::span<const uint32_t> returned = definitions.only_return();
  for (uint32_t i = 0; i < returned.size(); ++i) {
    std::optional<ResultAllocation> allocation = trace_back(module, definitions, returned[i]);
    if (!allocation) continue;
    allocation->output = i;
    // If a storage is returned as two results, only one output buffer can be substituted for it.
    if (std::ranges::find(allocations, allocation->alloc_word, &ResultAllocation::alloc_word) ==
        allocations.end())
      allocations.push_back(*allocation);
  }
  return allocations;
}

}  // namespace scopevm::vm
