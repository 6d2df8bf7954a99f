// Scalar multiply-add in the arithmetic type of a dtype, for generic_matmul.cpp and
// generic_conv.cpp.
#pragma once

#include "compiler/kernels/builder/code_builder.h"
#include "compiler/kernels/builder/convert.h"

namespace scopevm::compiler::kernels {

struct ScalarSum {
  CodeBuilder& e;
  DType dtype;

  // Loads an element and converts it to `dtype`. The buffer's dtype can be narrower than the dtype
  // of the sum.
  Term load(const Buffer& buffer, Term at) {
    Term x = e.load_number(buffer, at);
    return buffer.dtype == dtype ? x : cast(x, buffer.dtype, dtype);
  }
  Term zero() { return e.zero(arithmetic_type(e.builder().getContext(), dtype)); }
  Term multiply_add(Term a, Term b, Term sum) { return a * b + sum; }
};

}  // namespace scopevm::compiler::kernels
