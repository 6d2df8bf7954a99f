// Small hand-written modules for tests of the VM, and a writer for their code.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "scopevm/module.h"
#include "vm/format/schema/module_contents.h"

namespace scopevm::test {

// Appends instructions in the encoding of vm/isa/opcodes.def.
class CodeWriter {
 public:
  static constexpr uint32_t slot(uint32_t index) { return 0x80000000U | index; }

  // Appends an instruction. `operands` are its words after the first.
  CodeWriter& add(uint16_t code, std::initializer_list<uint32_t> operands);
  // The word index of the next instruction.
  uint32_t here() const { return static_cast<uint32_t>(words_.size()); }
  uint32_t& operator[](uint32_t word) { return words_[word]; }
  std::vector<uint32_t> take() { return std::move(words_); }

  CodeWriter& ret(std::initializer_list<uint32_t> registers);
  CodeWriter& alloc_storage(uint32_t dst, uint32_t pool, uint32_t size);
  CodeWriter& alloc_tensor(uint32_t dst, uint32_t storage, uint32_t offset, uint32_t bytes,
                           DType dtype, std::initializer_list<uint32_t> dims);
  CodeWriter& launch(uint32_t entry, std::initializer_list<uint32_t> buffers);

 private:
  std::vector<uint32_t> words_;
};

// A module without functions. Its pools are 0 "global" (heap), 1 "global.workspace" (arena) and 2
// "global.constant". Its image is compiled from kernels.c; the constants below index its kernels
// and shape functions.
format::ModuleContents empty_contents();
inline constexpr uint32_t kAdd = 0;
inline constexpr uint32_t kScale = 1;
inline constexpr uint32_t kNothing = 2;
inline constexpr uint32_t kWait = 3;
inline constexpr uint32_t kSumShapes = 0;
inline constexpr uint32_t kCountDown = 1;
inline constexpr uint32_t kExternalShapes = 2;

// main(x: f32[n, 4], y: f32[n, 4]) -> z = (x + y) * 2, for n up to 1000. The sum x + y is stored in
// a workspace of 16*n + 64*threads bytes, with the lower bound 16*n.
format::ModuleContents sum_contents();

// main(x: f32[n, 4], y: f32[n, 4]) -> z = x + y: one call of external function "test.add_0" of
// library "test", with a workspace of 64*threads bytes.
format::ModuleContents external_contents();

// sum_contents() with variants that have different factors:
//   main[n=7]    multiplies by 4
//   main[even]   multiplies by 8; n is a multiple of 2 and at most 100
//   main[large]  multiplies by 16; n is at least 500
// Messages of the variants' shape function start with "variant", those of main's shape function
// with "main".
format::ModuleContents variant_contents();

// main(until: i64[1]) -> out: u8[1000]: launches test_wait with the grain `grain`.
format::ModuleContents wait_contents(uint32_t grain);

// main(x: f32[n]) -> z: f32[0]: a loop shortens a tensor by one element per iteration, until it is
// empty.
format::ModuleContents loop_contents();

// main(x: f32[n]) -> z: f32[1]: calls a function that passes the doubled elements of its argument,
// except for the last one, to itself. The recursion ends at depth n, when one element is left.
format::ModuleContents recursive_contents();

// main(x: `input`[2]) -> y: str[2]: runs `code` with 4 registers and returns register 2. Uses no
// kernel.
format::ModuleContents strings_contents(DType input, CodeWriter& code);
// main(x: str[2]) -> y: str[2]: x in upper case. Uses no kernel.
format::ModuleContents upper_contents();
// main(xs: sequence of dtype[?], o: optional of dtype[?]) -> xs, o.
format::ModuleContents sequence_contents(DType dtype = DType::kF32);

// Sets the launch checksum in the images of the module to that of its tables.
void seal(format::ModuleContents& contents);

// The bytes of the sealed module's file.
std::vector<uint8_t> file_of(format::ModuleContents contents);

// Seals, verifies and loads a module. Ends the program if the module is invalid.
Module load(format::ModuleContents contents);

}  // namespace scopevm::test
