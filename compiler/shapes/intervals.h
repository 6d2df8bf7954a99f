// Intervals of the values of a shape program: interval arithmetic (Moore, 1966) on numbers.
#pragma once

#include <cstdint>
#include <optional>

#include "compiler/shapes/shape_program.h"

namespace scopevm::compiler {

using Intervals = IndexedVector<ShapeProgram::ValueIndex, DimInterval>;

// The values of segment 0, where all input dims and the thread count are in [1, largest]; {0, 0}
// for values of later segments. Empty if a value may overflow or a divisor may be below 1.
std::optional<Intervals> intervals(const ShapeProgram& program, int64_t largest);

}  // namespace scopevm::compiler
