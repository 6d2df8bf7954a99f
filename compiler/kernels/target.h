// The vector unit that kernels are generated for.
#pragma once

#include <string>

namespace scopevm::compiler::kernels {

struct Target {
  std::string cpu;        // as LLVM names it
  std::string features;   // differences from the CPU's own, as LLVM spells them: "-avx512f,-rtm"
  int vector_bits = 512;  // 512, 256 or 128
  bool has_masks = true;  // AVX-512: masked loads and stores are cheap
  // VNNI: sums of four products of bytes into i32, at the width of the vectors.
  bool has_byte_dot = false;
  int lanes(int element_bytes) const { return vector_bits / 8 / element_bytes; }
};

}  // namespace scopevm::compiler::kernels
