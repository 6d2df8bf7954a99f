// What kernels are generated for: the vector unit that every back end describes for its devices,
// and what code generation reads again.
#pragma once

#include <string>

namespace scopevm::compiler::kernels {

struct Target {
  std::string name;       // of the image; for CPUs as LLVM names them: "x86-64-v3"
  std::string features;   // of a CPU, where they differ from its name's: "-avx512f,-rtm"
  int vector_bits = 512;  // 512, 256 or 128
  bool has_masks = true;  // AVX-512: masked loads and stores are cheap
  // VNNI: sums of four products of bytes into i32, at the width of the vectors.
  bool has_byte_dot = false;
  int lanes(int element_bytes) const { return vector_bits / 8 / element_bytes; }
};

}  // namespace scopevm::compiler::kernels
