// Numbers and texts: what a cast between them means.
//
// A text is an integer's decimal digits, or a float as NumPy writes it: the fewest digits that give
// the same float back, as 0.25, 100.0, 1e-05 or 1e+16, and nan, inf, -inf; bools are True and
// False. What reads as a number is wider: blanks around it, a sign, digits as C's strtod takes
// them, any case of inf, infinity and nan, and true, false, 1 and 0 for bools.
#pragma once

#include <string>
#include <string_view>

#include "scopevm/dtype.h"

namespace scopevm::runtime {

// Writes the number that `text` spells, as one element. False when it spells none, or an integer
// that the element type does not hold. REQUIRES: dtype is not kStr.
bool parse_number(std::string_view text, DType dtype, void* element);

// REQUIRES: dtype is not kStr.
std::string format_number(DType dtype, const void* element);

}  // namespace scopevm::runtime
