// Fuzz target: text -> graph -> rewrites of the graph.
#include <cstddef>
#include <cstdint>

#include "tests/fuzz/check_import.h"
#include "tests/fuzz/input_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const scopevm::test::InputFile file(data, size);
  scopevm::compiler::frontend::check_import(file.path());
  return 0;
}
