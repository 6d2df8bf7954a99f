// Representative values of dims, for comparing sizes at compile time.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "compiler/dims/dim_expr.h"

namespace scopevm::compiler {

// 64, or a value near 64 that the facts allow: the greatest allowed one in [1, 64], else the least
// one above. 0 only if no other value is allowed. If the range contains no multiple of the known
// factor, a value in the range.
int64_t representative(const DimFacts& facts);

using DimValues = std::map<std::string, double, std::less<>>;

// The value of `e` with each symbol at its value in `known`, or at its representative. Never
// negative and always finite: 0 if a double cannot represent the value.
double representative(DimExpr e, const DimValues& known = {});

}  // namespace scopevm::compiler
