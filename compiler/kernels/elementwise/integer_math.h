// Integer arithmetic that never traps and is never undefined, whatever the operands.
#pragma once

#include "compiler/kernels/builder/term.h"

namespace scopevm::compiler::kernels {

// Rounds towards zero. x / 0 is 0; the least value / -1 wraps to itself.
Term integer_quotient(Term a, Term b, bool is_unsigned);
// Remainder of that division; with the divisor's sign, when asked. x mod 0 is 0.
Term integer_remainder(Term a, Term b, bool sign_of_divisor, bool is_unsigned);
// Shifts by the width or more give 0. Shifts to the right bring in zeros.
Term integer_shift(Term a, Term amount, bool left);
// a to the exponent, wrapping. `exponent` is i64. A negative exponent gives
// the reciprocal rounded towards zero: 0 but for a in {-1, 1}.
Term integer_power(Term a, Term exponent, bool exponent_is_unsigned);

}  // namespace scopevm::compiler::kernels
