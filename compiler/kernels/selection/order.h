// The total order of elements that sort_rows and top_k use.
#pragma once

#include "compiler/kernels/builder/convert.h"

namespace scopevm::compiler::kernels {

// True if `a` is ordered before `b`. NaN is ordered after all numbers, and all NaNs are equal.
inline Term is_below(Term a, Term b, DType dtype) {
  if (!is_float(dtype)) return less(a, b, is_unsigned(dtype) || dtype == DType::kBool);
  Term is_number = a == a, other_is_number = b == b;
  return select(is_number, select(other_is_number, a < b, is_number), is_number);
}

}  // namespace scopevm::compiler::kernels
