// Fuzz target: bytes -> .npz file -> tensors.
#include <cstddef>
#include <cstdint>

#include "tests/fuzz/input_file.h"
#include "tools/tensors/npz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const scopevm::test::InputFile file(data, size);
  (void)scopevm::tool::read_npz(file.path()).ok();
  return 0;
}
