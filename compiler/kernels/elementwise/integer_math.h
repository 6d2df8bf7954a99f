// Integer arithmetic that is defined and does not trap for all operands.
#pragma once

#include "compiler/kernels/builder/term.h"

namespace scopevm::compiler::kernels {

// The quotient, rounded towards zero. x / 0 is 0. The minimum value / -1 is the minimum value.
Term integer_quotient(Term a, Term b, bool is_unsigned);
// The remainder, with the sign of a, or of b if `sign_of_divisor`. x mod 0 is 0.
Term integer_remainder(Term a, Term b, bool sign_of_divisor, bool is_unsigned);
// A logical shift. A shift by the width of the type or more gives 0.
Term integer_shift(Term a, Term amount, bool left);
// a to the power of `exponent`, which has i64 elements. Products wrap. A negative exponent gives
// the reciprocal rounded towards zero: 0 unless a is -1 or 1.
Term integer_power(Term a, Term exponent, bool base_is_unsigned, bool exponent_is_unsigned);

}  // namespace scopevm::compiler::kernels
