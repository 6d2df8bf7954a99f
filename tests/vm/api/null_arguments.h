// Evaluates calls with NULL for each pointer argument in turn.
#pragma once

#include <stdio.h>
#include <string.h>

#include "tests/vm/api/expect.h"

// The index of the argument that is NULL.
static int missing;
// Pointer argument `index` of a call.
#define ARGUMENT(index, value) (missing == (index) ? NULL : (value))

static void expect_null_error(scopevm_status* status, int line) {
  if (scopevm_status_code(status) != 10 || strstr(scopevm_status_message(status), "NULL") == NULL) {
    fprintf(stderr, "%s:%d: argument %d: %d, \"%s\"\n", __FILE__, line, missing,
            scopevm_status_code(status), scopevm_status_message(status));
    ++failures;
  }
  scopevm_status_free(status);
}

// Evaluates the call once for each of its first `count` pointer arguments.
#define EACH_FAILS(count, call) \
  for (missing = 0; missing < (count); ++missing) expect_null_error((call), __LINE__)
