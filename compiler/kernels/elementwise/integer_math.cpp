// Integer division, shifts and powers without undefined cases. Divisors that would trap are
// replaced by 1, and the result is selected afterwards.
#include "compiler/kernels/elementwise/integer_math.h"

#include <algorithm>

namespace scopevm::compiler::kernels {
namespace {

namespace arith = mlir::arith;

template <typename Op>
Term make(Term a, Term b) {
  return a.with(a.builder->create<Op>(a.location, a.value, b.value));
}

Term safe_divisor(Term a, Term b, bool is_unsigned) {
  Term traps = b == 0;
  if (!is_unsigned) {
    unsigned bits = a.element().getIntOrFloatBitWidth();
    Term least = a.integer(static_cast<int64_t>(uint64_t{1} << (bits - 1)));
    // The minimum value / -1 overflows, which traps on x86. With divisor 1 the result is a, which
    // equals the quotient modulo 2^bits.
    traps = traps | ((a == least) & (b == -1));
  }
  return select(traps, b.integer(1), b);
}

}  // namespace

Term integer_quotient(Term a, Term b, bool is_unsigned) {
  Term safe = safe_divisor(a, b, is_unsigned);
  Term quotient = is_unsigned ? make<arith::DivUIOp>(a, safe) : make<arith::DivSIOp>(a, safe);
  return select(b == 0, b.integer(0), quotient);
}

Term integer_remainder(Term a, Term b, bool sign_of_divisor, bool is_unsigned) {
  Term safe = safe_divisor(a, b, is_unsigned);
  if (is_unsigned) return make<arith::RemUIOp>(a, safe);
  Term r = make<arith::RemSIOp>(a, safe);
  if (!sign_of_divisor) return r;
  Term zero = r.integer(0);
  Term differ = ((r ^ b) < zero) & (r != zero);
  return select(differ, r + b, r);
}

Term integer_shift(Term a, Term amount, bool left) {
  Term width = amount.integer(a.element().getIntOrFloatBitWidth());
  // In LLVM, a shift by the width or more is poison. Here it shifts out all bits.
  Term fits = less(amount, width, true);
  Term safe = select(fits, amount, amount.integer(0));
  Term shifted = left ? make<arith::ShLIOp>(a, safe) : make<arith::ShRUIOp>(a, safe);
  return select(fits, shifted, a.integer(0));
}

// Exponentiation by squaring, modulo 2^width. The power of an odd base depends only on the low
// width - 2 bits of the exponent, because its order divides 2^(width - 2). The power of an even
// base is 0 if the exponent is not below the width.
Term integer_power(Term a, Term exponent, bool base_is_unsigned, bool exponent_is_unsigned) {
  const int64_t width = a.element().getIntOrFloatBitWidth();
  const int64_t bits = std::max<int64_t>(width - 2, 6);
  Term is_odd = (a & a.integer(1)) != 0;
  Term result = a.integer(1), square = a;
  for (int64_t bit = 0; bit < bits; ++bit) {
    Term set = (exponent & exponent.integer(int64_t{1} << bit)) != 0;
    result = select(set, result * square, result);
    if (bit + 1 < bits) square = square * square;
  }
  // The comparison is unsigned, so that it is true for exponents of 2^63 or more.
  Term is_long = less(exponent.integer(width - 1), exponent, true);
  result = select(is_long, select(is_odd, result, a.integer(0)), result);
  if (exponent_is_unsigned) return result;
  // For bases 1 and -1 the result depends only on the parity of the exponent.
  Term odd = exponent & exponent.integer(1);
  Term unit = a == 1;
  // An unsigned element with the bits of -1 is the maximum value.
  if (!base_is_unsigned) unit = unit | (a == -1);
  Term reciprocal = select(unit, select(odd == 1, a, a.integer(1)), a.integer(0));
  return select(exponent < 0, reciprocal, result);
}

}  // namespace scopevm::compiler::kernels
