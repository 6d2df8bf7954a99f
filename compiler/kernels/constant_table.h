// The constants of a program, each kept once. Functions that are variants of one another use the
// same weights, packed the same way; what is packed again is dropped as soon as it is found equal.
#pragma once

#include <unordered_map>
#include <vector>

#include "compiler/program.h"

namespace scopevm::kernels {

class ConstantTable {
 public:
  // Appends to `constants`, which nothing else may change.
  explicit ConstantTable(std::vector<Constant>& constants) : constants_(constants) {}

  // The index of the constant, or of an earlier one of the same pool, type, dims and bytes.
  int add(Constant constant);

 private:
  std::vector<Constant>& constants_;
  std::unordered_multimap<uint64_t, int> by_hash_;
};

}  // namespace scopevm::kernels
