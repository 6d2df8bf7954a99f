// ConstantTable: the deduplicated constants of a program, and the strings that string constants
// index. Variants of a function share weights and their packed copies.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "compiler/program/program.h"
#include "llvm/ADT/StringMap.h"

namespace scopevm::compiler::kernels {

class ConstantTable {
 public:
  // The functions below append to the constants and strings of `program`. REQUIRES: no other code
  // modifies these.
  explicit ConstantTable(Program& program)
      : constants_(program.constants), strings_(program.strings) {}

  // Adds the constant, unless the table has one with the same pool, type, dims and bytes. Returns
  // the index of the new or of the equal constant.
  ConstantIndex add(Constant constant);
  // Adds the string, unless the table has it. Returns its index.
  int32_t string_index(llvm::StringRef string);

 private:
  IndexedVector<ConstantIndex, Constant>& constants_;
  std::vector<std::string>& strings_;
  llvm::StringMap<int32_t> string_indices_;
  std::unordered_multimap<uint64_t, ConstantIndex> by_hash_;
};

}  // namespace scopevm::compiler::kernels
