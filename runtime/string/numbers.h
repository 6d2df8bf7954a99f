// Conversion between numbers and strings: the semantics of a cast.
//
// Numbers are formatted as NumPy does: integers in decimal, and floats with the fewest digits that
// read back as the same value (0.25, 100.0, 1e-05, 1e+16, nan, inf, -inf). Bools are True and
// False.
//
// Parsing ignores surrounding blanks. It accepts decimal integers with an optional sign, floats in
// the syntax of C's strtod, and for bools True, true, TRUE, 1 and False, false, FALSE, 0.
#pragma once

#include <string>
#include <string_view>

#include "scopevm/dtype.h"

namespace scopevm::runtime {

// Parses a number and stores it as one element. Returns false on a syntax error, if an integer is
// out of range of the element type, or if a float has more than 4096 characters. REQUIRES: dtype is
// not kStr.
bool parse_number(std::string_view text, DType dtype, void* element);

// Formats one element. REQUIRES: dtype is not kStr.
std::string format_number(DType dtype, const void* element);

}  // namespace scopevm::runtime
