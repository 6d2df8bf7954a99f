// ONNX Range: bounds and step may be numbers, dims, or tensor data.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "compiler/graph/type_rule.h"
#include "compiler/graph/values/elements.h"
#include "compiler/import/node/formula.h"
#include "compiler/import/ops/op_table.h"

namespace scopevm::compiler::frontend {
namespace {

using namespace graph;  // NOLINT: formulas read better without the prefix

struct Bounds {
  Value start, limit, delta;
};

// start + delta * i for i in [0, size).
Value steps(Node& n, const Bounds& b, DimExpr size) {
  Value index = iota(n, size, n.dtype(b.start));
  return n.emit<AddOp>({b.start, n.emit<MulOp>({index, b.delta})});
}

// Integers with a known delta: the size is the dim max(0, ceil((limit - start) / delta)).
Value range_of_dims(Node& n, const Bounds& b, int64_t delta) {
  Dims from = n.dims_of(b.start, "the start", Node::Sign::kAny),
       to = n.dims_of(b.limit, "the limit", Node::Sign::kAny);
  if (n.has_failed()) return {};
  DimExpr span = delta > 0 ? to[0] - from[0] : from[0] - to[0];
  DimExpr size = max(ceildiv(span, delta > 0 ? delta : -delta), 0);
  Value range = iota(n, size, n.dtype(b.start), from[0].as_constant().value_or(0), delta);
  return from[0].is_constant() ? range : n.emit<AddOp>({range, b.start});
}

std::optional<double> known_number(Node& n, Value value) {
  auto op = value.getDefiningOp<ConstantOp>();
  if (!op) return std::nullopt;
  Constant constant = constant_of_elements(op.getValue(), n.dtype(value));
  float narrow = 0;
  double wide = 0;
  if (n.dtype(value) == DType::kF32 && constant.bytes == 4) {
    std::memcpy(&narrow, constant.data, 4);
    return narrow;
  }
  if (n.dtype(value) != DType::kF64 || constant.bytes != 8) return std::nullopt;
  std::memcpy(&wide, constant.data, 8);
  return wide;
}

// A range of constant size, from floats that are known at compile time. No value if they are
// unknown.
std::optional<Value> known_range(Node& n, const Bounds& b) {
  auto from = known_number(n, b.start), to = known_number(n, b.limit),
       by = known_number(n, b.delta);
  if (!from || !to || !by) return std::nullopt;
  if (*by == 0) return n.fail("the delta is 0");
  double count = std::ceil((*to - *from) / *by);
  // The comparison is negated, so that NaN is rejected as well.
  if (!(count < (1 << 30))) return n.fail("the range must have fewer than 1073741824 elements");
  return steps(n, b, static_cast<int64_t>(std::max(0.0, count)));
}

// ceil(span / delta) for integers, exact for results of at least 0. Other results are negative or
// 0, because the division truncates; the caller replaces them by 0.
Value integer_count(Node& n, Value span, Value delta) {
  // ceil(span / delta) = (span + delta - sign(delta)) / delta.
  Value beyond = n.emit<SubOp>({delta, n.emit<SignOp>({delta})});
  return n.emit<DivOp>({n.emit<AddOp>({span, beyond}), delta});
}

Value float_count(Node& n, Value span, Value delta) {
  constexpr double kTooMany = 4611686018427387904.0;  // 2^62: fits i64, exceeds any tensor size
  Value count = n.emit<CeilOp>({n.emit<DivOp>({span, delta})});
  return n.emit<MinOp>({count, n.scalar(kTooMany, count)});
}

// Bounds that are known only at run time: tensor ops compute the count, which is then read as a
// dim.
Value range_of_data(Node& n, const Bounds& b) {
  bool is_float = scopevm::is_float(n.dtype(b.start));
  DType wide = is_float ? DType::kF64 : DType::kI64;
  Value span = n.cast(n.emit<SubOp>({b.limit, b.start}), wide), delta = n.cast(b.delta, wide);
  // Subtracts in i64: the difference of two i32 numbers may overflow i32.
  if (!is_float) span = n.emit<SubOp>({n.cast(b.limit, wide), n.cast(b.start, wide)});
  Value count = is_float ? float_count(n, span, delta) : integer_count(n, span, delta);
  Value none = n.emit<EqualOp>({delta, n.scalar(0, delta)});
  if (is_float) none = n.emit<OrOp>({none, n.emit<IsNanOp>({count})});
  Value least = n.emit<MaxOp>({count, n.scalar(0, count)});
  // -1 marks an invalid range, which the check below reports; no valid count is negative.
  Value size = n.cast(n.emit<SelectOp>({none, n.scalar(-1, count), least}), DType::kI64);
  Dims read = n.dims_of(size, "the count", Node::Sign::kAny);
  if (n.has_failed()) return {};
  n.require_at_least(read[0], 0, "its delta is 0, or a bound is not a number");
  return steps(n, b, max(read[0], 0));
}

Values range(Node& n) {
  Bounds b{n.input(0), n.input(1), n.input(2)};
  if (n.has_failed()) return Value();
  for (Value* value : {&b.start, &b.limit, &b.delta}) {
    if (!n.type(*value).getElementCount().is_constant(1))
      return n.fail("start, limit and delta must have 1 element, but one is " +
                    text_of(n.type(*value)));
    *value = n.reshape(*value, {});
  }
  if (n.dtype(b.start) != n.dtype(b.limit) || n.dtype(b.start) != n.dtype(b.delta))
    return n.fail("start, limit and delta must have the same element type, but are " +
                  text_of(n.type(b.start)) + ", " + text_of(n.type(b.limit)) + " and " +
                  text_of(n.type(b.delta)));
  if (is_float(n.dtype(b.start))) {
    if (std::optional<Value> known = known_range(n, b)) return *known;
  } else if (n.is_known(b.delta)) {
    Dims delta = n.dims_of(b.delta, "the delta", Node::Sign::kAny);
    if (delta[0].is_constant(0)) return n.fail("the delta is 0");
    if (auto by = delta[0].as_constant(); by && *by != std::numeric_limits<int64_t>::min())
      return range_of_dims(n, b, *by);
  }
  return range_of_data(n, b);
}

}  // namespace

const OpRows kRangeOps = {{"Range", 11, range}};

}  // namespace scopevm::compiler::frontend
