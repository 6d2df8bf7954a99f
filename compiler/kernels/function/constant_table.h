// The constants of a program, each kept once, and the texts that constants of str are ids of.
// Functions that are variants of one another use the same weights, packed the same way; what is
// packed again is dropped as soon as it is found equal.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "compiler/program.h"
#include "llvm/ADT/StringMap.h"

namespace scopevm::compiler::kernels {

class ConstantTable {
 public:
  // Appends to the program's constants and texts, which nothing else may change.
  explicit ConstantTable(Program& program) : constants_(program.constants), texts_(program.texts) {}

  // The index of the constant, or of an earlier one of the same pool, type, dims and bytes.
  int add(Constant constant);
  int32_t id_of_text(llvm::StringRef text);

 private:
  std::vector<Constant>& constants_;
  std::vector<std::string>& texts_;
  llvm::StringMap<int32_t> ids_;
  std::unordered_multimap<uint64_t, int> by_hash_;
};

}  // namespace scopevm::compiler::kernels
