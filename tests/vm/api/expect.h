// Checks for tests in C. main() returns an error if `failures` is not 0.
#pragma once

#include <stdio.h>

static int failures = 0;

// Reports a condition that does not hold.
#define EXPECT(condition)                                             \
  do {                                                                \
    if (!(condition)) {                                               \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
      ++failures;                                                     \
    }                                                                 \
  } while (0)
