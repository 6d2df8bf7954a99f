// Target: the properties for which kernels are generated. Every back end with a code generator
// describes its devices by a Target, and its code generation uses the same Target.
#pragma once

#include <cstdint>
#include <string>

namespace scopevm::compiler::schedule {

struct Target {
  std::string name;       // name of the image; for CPUs the LLVM name: "x86-64-v3"
  std::string features;   // CPU features that differ from those of `name`: "-avx512f,-rtm"
  int vector_bits = 512;  // 512, 256 or 128
  bool has_masks = true;  // masked loads and stores are cheap, as with AVX-512
  // The target has VNNI instructions for vectors of `vector_bits`. They add dot products of four
  // bytes to i32 lanes.
  bool has_byte_dot = false;
  int lanes(int element_bytes) const { return vector_bits / 8 / element_bytes; }
  bool has_fma() const { return vector_bits >= 256; }
  // AVX-512 has 32 vector registers, other x86 CPUs have 16.
  int64_t vector_registers() const { return vector_bits == 512 ? 32 : 16; }
};

}  // namespace scopevm::compiler::schedule
