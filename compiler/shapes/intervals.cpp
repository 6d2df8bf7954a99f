#include "compiler/shapes/intervals.h"

#include <algorithm>

#include "compiler/dims/polynomial.h"

namespace scopevm::compiler {
namespace {

using Op = ShapeProgram::Op;

std::optional<Interval> sum(Interval a, Interval b) {
  Interval result;
  if (__builtin_add_overflow(a.least, b.least, &result.least) ||
      __builtin_add_overflow(a.most, b.most, &result.most))
    return std::nullopt;
  return result;
}

std::optional<Interval> product(Interval a, Interval b) {
  int64_t ends[4];
  if (__builtin_mul_overflow(a.least, b.least, &ends[0]) ||
      __builtin_mul_overflow(a.least, b.most, &ends[1]) ||
      __builtin_mul_overflow(a.most, b.least, &ends[2]) ||
      __builtin_mul_overflow(a.most, b.most, &ends[3]))
    return std::nullopt;
  const auto [least, most] = std::ranges::minmax(ends);
  return Interval{least, most};
}

// The sign of the dividend decides which divisor gives an end.
Interval quotient(Interval a, Interval b) {
  return {dims::floor_divide(a.least, a.least < 0 ? b.least : b.most),
          dims::floor_divide(a.most, a.most < 0 ? b.most : b.least)};
}

std::optional<Interval> result_of(Op op, Interval a, Interval b) {
  switch (op) {
    case Op::kAdd:
      return sum(a, b);
    case Op::kMul:
      return product(a, b);
    case Op::kFloorDiv:
      return b.least < 1 ? std::nullopt : std::optional(quotient(a, b));
    case Op::kMod:
      return b.least < 1 ? std::nullopt : std::optional(Interval{0, b.most - 1});
    case Op::kMin:
      return Interval{std::min(a.least, b.least), std::min(a.most, b.most)};
    case Op::kMax:
      return Interval{std::max(a.least, b.least), std::max(a.most, b.most)};
    default:
      return std::nullopt;
  }
}

}  // namespace

std::optional<Intervals> intervals(const ShapeProgram& program, int64_t largest) {
  Intervals result;
  for (const ShapeProgram::Instruction& i : program.instructions()) {
    std::optional<Interval> interval;
    if (i.segment.value > 0)
      interval = Interval{};
    else if (i.op == Op::kConstant)
      interval = Interval{i.immediate, i.immediate};
    else if (i.op == Op::kInputDim || i.op == Op::kThreads)
      interval = Interval{1, largest};
    else if (i.has_operands())
      interval = result_of(i.op, result[i.a], result[i.b]);
    if (!interval) return std::nullopt;
    result.push_back(*interval);
  }
  return result;
}

}  // namespace scopevm::compiler
