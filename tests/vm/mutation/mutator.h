// Random changes to the code and the tables of a module.
#pragma once

#include <cstdint>
#include <random>

#include "vm/format/schema/module_contents.h"

namespace scopevm::test {

class Mutator {
 public:
  explicit Mutator(uint32_t seed) : random_(seed) {}

  // Changes one instruction, or the order of the instructions, or one entry of a table.
  // REQUIRES: the module passed verification.
  void mutate(format::ModuleContents& module);

  // A number of [0, count). REQUIRES: count > 0.
  uint32_t below(size_t count) { return static_cast<uint32_t>(random_() % count); }

 private:
  // A function's instructions, each with its words. Targets are instruction indices.
  using Instructions = std::vector<std::vector<uint32_t>>;

  void mutate_code(format::FunctionDecl& function);
  void mutate_word(const format::FunctionDecl& function, std::vector<uint32_t>& instruction,
                   size_t instruction_count);
  void mutate_function(format::ModuleContents& module);
  void mutate_table(format::ModuleContents& module);
  void mutate_launch(format::ModuleContents& module);
  void mutate_shape_function(format::ModuleContents& module);
  void mutate_constant(format::ModuleContents& module);
  void change(uint32_t& number, size_t usual_count);

  std::mt19937 random_;
};

}  // namespace scopevm::test
