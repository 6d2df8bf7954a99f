// Integer arithmetic that is defined and does not trap for all operands.
#pragma once

#include "compiler/kernels/builder/term.h"

namespace scopevm::compiler::kernels {

// Rounds towards zero. x / 0 is 0; the minimum value / -1 wraps to itself.
Term integer_quotient(Term a, Term b, bool is_unsigned);
// The remainder of that division, with the divisor's sign if `sign_of_divisor`. x mod 0 is 0.
Term integer_remainder(Term a, Term b, bool sign_of_divisor, bool is_unsigned);
// Logical shifts. A shift by the width or more gives 0.
Term integer_shift(Term a, Term amount, bool left);
// a to the power of `exponent`, an i64, with wrapping. A negative exponent gives the reciprocal
// rounded towards zero: 0 unless a is -1 or 1.
Term integer_power(Term a, Term exponent, bool exponent_is_unsigned);

}  // namespace scopevm::compiler::kernels
