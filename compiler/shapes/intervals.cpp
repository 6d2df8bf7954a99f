// Interval arithmetic over the instructions of a shape program; see the header.
#include "compiler/shapes/intervals.h"

namespace scopevm::compiler {

std::optional<Intervals> intervals(const ShapeProgram& program, int64_t largest) {
  using Op = ShapeProgram::Op;
  Intervals result;
  for (const ShapeProgram::Instruction& i : program.instructions()) {
    DimInterval interval{0, 0};
    if (i.segment.value > 0) {
    } else if (i.op == Op::kConstant) {
      interval = {i.immediate, i.immediate};
    } else if (i.op == Op::kInputDim || i.op == Op::kThreads) {
      interval = {1, largest};
    } else if (i.has_operands()) {
      interval = apply(i.formula_op(), result[i.a], result[i.b]);
      // An end that may overflow is saturated, and an unknown quotient has no bounds.
      if (interval.min == INT64_MIN || interval.max == INT64_MAX) return std::nullopt;
    } else {
      return std::nullopt;
    }
    result.push_back(interval);
  }
  return result;
}

}  // namespace scopevm::compiler
