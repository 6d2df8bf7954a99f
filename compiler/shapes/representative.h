// Where sizes are compared before any request is known: the values that dims are taken for.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "compiler/shapes/dim_expr.h"

namespace scopevm::compiler {

// 64, or what is nearest to it among the values that the facts allow; 0 only where nothing else is
// allowed.
int64_t representative(const DimFacts& facts);

using DimValues = std::map<std::string, double, std::less<>>;

// With each symbol at its value in `known`, or as its facts say. Never negative, and a number also
// where it leaves 64 bits.
double representative(DimExpr e, const DimValues& known = {});

}  // namespace scopevm::compiler
