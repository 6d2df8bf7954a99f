// What the instructions of a module do, for tools that observe runs.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "scopevm/execution_hook.h"
#include "vm/format/schema/module_contents.h"
#include "vm/isa/instruction.h"

namespace scopevm::tool {

// REQUIRES of all methods: the module is verified, and the place is an instruction of it. The
// module must outlive this object.
class CodeMap {
 public:
  explicit CodeMap(const format::ModuleContents& module) : module_(module) {}

  const format::ModuleContents& module() const { return module_; }
  const format::FunctionDecl& function(InstructionPlace place) const {
    return module_.functions[place.function];
  }
  isa::Instruction instruction(InstructionPlace place) const {
    return isa::verified_instruction(function(place).code, place.word);
  }
  // The registers of the tensors whose elements the instruction writes: results of kernels and
  // external functions, strings, and copies. Scratch memory of kernels is omitted, because its
  // contents can depend on the number of threads.
  const std::vector<uint32_t>& written_tensors(InstructionPlace place);
  // The kernel or external function of a launch; empty for other instructions.
  std::string_view kernel(InstructionPlace place) const;
  // The model's ops from which the instruction was compiled, or "".
  std::string_view op(InstructionPlace place) const;
  // The kernel, or the name of the opcode.
  std::string_view name(InstructionPlace place) const;
  // "main:36".
  std::string text(InstructionPlace place) const;
  // The instruction that ends before `place`: the call to whose end a function returns.
  // REQUIRES: `place` is not the first instruction.
  InstructionPlace before(InstructionPlace place) const;

 private:
  std::vector<uint32_t> find_written_tensors(InstructionPlace place) const;
  bool is_temporary(InstructionPlace place, const isa::Instruction& launch, uint32_t reg) const;

  const format::ModuleContents& module_;
  std::map<std::pair<uint32_t, uint32_t>, std::vector<uint32_t>> written_;
};

}  // namespace scopevm::tool
