/* Compares compiled modules. */
#ifndef SCOPEVM_TESTS_COMPILER_C_API_EQUAL_MODULES_H_
#define SCOPEVM_TESTS_COMPILER_C_API_EQUAL_MODULES_H_

#include <string.h>

#include "scopevm/c/compiler.h"

/* Whether the bytes of two modules are equal. */
static int have_equal_bytes(const scopevm_compiled* a, const scopevm_compiled* b) {
  const size_t size = scopevm_compiled_size(a);
  return size == scopevm_compiled_size(b) &&
         memcmp(scopevm_compiled_bytes(a), scopevm_compiled_bytes(b), size) == 0;
}

#endif /* SCOPEVM_TESTS_COMPILER_C_API_EQUAL_MODULES_H_ */
