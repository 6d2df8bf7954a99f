// Checks for tests in C. main() returns an error if `failures` is not 0.
#pragma once

#include <stdio.h>
#include <string.h>

#include "scopevm/scopevm.h"

static int failures = 0;

// Reports a condition that does not hold.
#define EXPECT(condition)                                             \
  do {                                                                \
    if (!(condition)) {                                               \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
      ++failures;                                                     \
    }                                                                 \
  } while (0)

static inline void expect_ok(scopevm_status* status, const char* file, int line) {
  if (status == NULL) return;
  fprintf(stderr, "%s:%d: %s\n", file, line, scopevm_status_message(status));
  scopevm_status_free(status);
  ++failures;
}
#define OK(call) expect_ok((call), __FILE__, __LINE__)

static inline void expect_error(scopevm_status* status, int code, const char* part,
                                const char* file, int line) {
  if (status == NULL || scopevm_status_code(status) != code ||
      strstr(scopevm_status_message(status), part) == NULL) {
    fprintf(stderr, "%s:%d: expected %d, \"%s\"; got %d, \"%s\"\n", file, line, code, part,
            scopevm_status_code(status), scopevm_status_message(status));
    ++failures;
  }
  scopevm_status_free(status);
}
#define FAILS(call, code, part) expect_error((call), (code), (part), __FILE__, __LINE__)

// Returns a matrix of floats that borrows `data` and `shape`.
static inline DLTensor floats(float* data, int64_t* shape) {
  DLTensor tensor;
  memset(&tensor, 0, sizeof tensor);
  tensor.data = data;
  tensor.device.device_type = kDLCPU;
  tensor.ndim = 2;
  tensor.dtype.code = kDLFloat;
  tensor.dtype.bits = 32;
  tensor.dtype.lanes = 1;
  tensor.shape = shape;
  return tensor;
}
