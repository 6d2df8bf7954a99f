// Representative values of dims, for comparing sizes at compile time.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "compiler/shapes/dim_expr.h"

namespace scopevm::compiler {

// 64, or the nearest value that the facts allow; 0 only if no other value is allowed.
int64_t representative(const DimFacts& facts);

using DimValues = std::map<std::string, double, std::less<>>;

// The value of `e` with each symbol at its value in `known`, or at its representative. Never
// negative, and finite also if the value overflows 64 bits.
double representative(DimExpr e, const DimValues& known = {});

}  // namespace scopevm::compiler
