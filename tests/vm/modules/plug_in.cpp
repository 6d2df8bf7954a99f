// A plug-in with the library of adder.h. The variable SCOPEVM_TEST_NO_ABI makes it support no ABI.
#include <cstdlib>

#include "tests/vm/modules/adder.h"

extern "C" [[gnu::visibility("default")]] const scopevm_external_library*
scopevm_external_library_entry(int abi_version) {
  const bool is_supported =
      abi_version == SCOPEVM_EXTERNAL_ABI_VERSION && std::getenv("SCOPEVM_TEST_NO_ABI") == nullptr;
  return is_supported ? &scopevm::test::kAdder : nullptr;
}
