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

// start + delta * i for i in [0, size). 16-bit floats are computed in f32.
Value steps(Node& n, const Bounds& b, DimExpr size) {
  const DType dtype = n.dtype(b.start);
  const DType computed = is_float(dtype) && byte_size(dtype) == 2 ? DType::kF32 : dtype;
  Value index = iota(n, size, computed);
  Value y = n.emit<MulOp>({index, n.cast(b.delta, computed)});
  return n.cast(n.emit<AddOp>({n.cast(b.start, computed), y}), dtype);
}

// More elements than any tensor has. It fits i64 and f64.
constexpr int64_t kTooMany = int64_t{1} << 62;

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

// max(0, ceil((limit - start) / delta)) of i64 numbers, at most kTooMany; any number if delta is 0.
// The distance of two i64 numbers fits u64, and so does the absolute value of delta.
Value integer_count(Node& n, Value start, Value limit, Value delta) {
  const auto distance = [&](Value from, Value to) {
    return n.cast(n.emit<SubOp>({to, from}), DType::kU64);
  };
  const auto choose = [&](Value condition, Value yes, Value no) {
    return n.emit<SelectOp>({condition, yes, no});
  };
  Value zero = n.scalar(0, DType::kI64), one = n.scalar(1, DType::kU64);
  Value is_up = n.emit<LessOp>({zero, delta});
  Value has_any = choose(is_up, n.emit<LessOp>({start, limit}), n.emit<LessOp>({limit, start}));
  Value span = choose(is_up, distance(start, limit), distance(limit, start));
  Value step = choose(is_up, distance(zero, delta), distance(delta, zero));
  // ceil(span / step) = (span - 1) / step + 1 for span > 0, without overflow.
  Value count = n.emit<AddOp>({n.emit<DivOp>({n.emit<SubOp>({span, one}), step}), one});
  count = n.emit<MinOp>({count, n.scalar(static_cast<double>(kTooMany), DType::kU64)});
  return choose(has_any, n.cast(count, DType::kI64), zero);
}

Value float_count(Node& n, Value span, Value delta) {
  Value count = n.emit<CeilOp>({n.emit<DivOp>({span, delta})});
  count = n.emit<MinOp>({count, n.scalar(static_cast<double>(kTooMany), count)});
  return n.emit<MaxOp>({count, n.scalar(0, count)});
}

// Bounds that are known only at run time: tensor ops compute the count, which is then read as a
// dim.
Value range_of_data(Node& n, const Bounds& b) {
  const bool is_float = scopevm::is_float(n.dtype(b.start));
  const DType wide = is_float ? DType::kF64 : DType::kI64;
  Value delta = n.cast(b.delta, wide);
  Value none = n.emit<EqualOp>({delta, n.scalar(0, delta)}), count;
  if (is_float) {
    const bool is_half = byte_size(n.dtype(b.start)) == 2;
    const DType span = is_half ? DType::kF32 : n.dtype(b.start);
    count = float_count(
        n, n.cast(n.emit<SubOp>({n.cast(b.limit, span), n.cast(b.start, span)}), wide), delta);
    none = n.emit<OrOp>({none, n.emit<IsNanOp>({count})});
  } else {
    count = integer_count(n, n.cast(b.start, wide), n.cast(b.limit, wide), delta);
  }
  // -1 marks an invalid range, which the check below reports; no valid count is negative.
  Value size = n.cast(n.emit<SelectOp>({none, n.scalar(-1, count), count}), DType::kI64);
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
    // With a smaller delta, a range whose span exceeds 64 bits has too many elements.
    constexpr int64_t kLargeDelta = int64_t{1} << 31;
    if (auto by = delta[0].as_constant(); by && -kLargeDelta < *by && *by < kLargeDelta)
      return range_of_dims(n, b, *by);
  }
  return range_of_data(n, b);
}

// Range-27 has 16-bit floats. Its attribute selects the type that computes them: f32.
Values range_of_halves(Node& n) {
  if (const int64_t stash = n.integer("stash_type", 1); stash != onnx::TensorProto::FLOAT)
    return n.unsupported("stash_type is " + llvm::Twine(stash) + ", expected 1");
  return range(n);
}

}  // namespace

const OpRows kRangeOps = {
    {"Range", 11, range},
    {"Range", 27, range_of_halves, OpSignature{"start limit delta", "stash_type"}},
};

}  // namespace scopevm::compiler::frontend
