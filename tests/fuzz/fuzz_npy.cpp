// Fuzz target: bytes -> .npy file -> tensor.
#include <cstddef>
#include <cstdint>

#include "tests/fuzz/input_file.h"
#include "tools/tensors/npy.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const scopevm::test::InputFile file(data, size);
  (void)scopevm::tool::read_npy(file.path()).ok();
  return 0;
}
