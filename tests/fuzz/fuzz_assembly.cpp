// Fuzz target: text -> assembler -> verifier -> disassembler -> assembler.
#include <cstddef>
#include <cstdint>

#include "tests/fuzz/check_round_trip.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace scopevm::format;
  const scopevm::Result<ModuleContents> module =
      assemble({reinterpret_cast<const char*>(data), size});
  if (module.ok()) check_round_trip(*module);
  return 0;
}
