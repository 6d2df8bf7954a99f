// Packed numbers, shared by the ops on quantised weights of com.microsoft.
#pragma once

#include <array>

#include "compiler/import/node/node.h"

namespace scopevm::compiler::frontend {

// Unsigned numbers of `bits` bits (2, 4 or 8) that are packed along the last axis -> u8. The first
// number is in the lowest bits, or in the highest ones if `high_first`.
Value unpack_bits(Node& n, Value packed, int64_t bits, bool high_first = false);
// The numbers of a constant of u8, as f32. Each row of `dims` starts with a new byte. Constant
// folding would not create a constant that is larger than its operand.
Value unpacked_constant(Node& n, mlir::ElementsAttr packed, std::array<int64_t, 2> dims,
                        int64_t bits);

}  // namespace scopevm::compiler::frontend
