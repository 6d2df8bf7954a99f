// Quantised keys and values; see key_cache.h.
#include "compiler/import/ops/microsoft/key_cache.h"

#include "compiler/graph/type_rule.h"
#include "compiler/import/node/checks.h"
#include "compiler/import/ops/elementwise/quantised.h"
#include "compiler/import/ops/microsoft/block_quantised.h"
#include "runtime/quoted.h"

namespace scopevm::compiler::frontend {

using namespace graph;  // NOLINT: formulas read better without the prefix

namespace {

// A scale of any rank with one element, or with one for each channel of each head.
Value read_scale(Node& n, const CacheFormatSource& source, const Dims& dims) {
  Value scale = n.input(source.scale);
  if (!check_dtype(n, scale, "the scale of a cache", {DType::kF32})) return {};
  DimExpr given = 1, expected = 1;
  for (const DimExpr dim : n.shape(scale)) given = given * dim;
  for (const DimExpr dim : dims) expected = expected * dim;
  n.require_equal(given, expected, "the scale of a cache has {0} elements, expected {1}");
  return n.has_failed() ? Value() : n.reshape(scale, dims);
}

}  // namespace

CacheFormat read_cache_format(Node& n, const CacheFormatSource& source, int64_t heads,
                              DimExpr size) {
  const std::string type = n.text(source.type, "NONE");
  CacheFormat format{.scale = {}, .size = size, .stored_size = size};
  if (type == "NONE" || n.has_failed()) return format;
  if (type != "PER_TENSOR" && type != "PER_CHANNEL")
    return n.fail(source.type + " is " + runtime::quoted(type) +
                  ", expected NONE, PER_TENSOR or PER_CHANNEL"),
           format;
  format.bits = n.integer("kv_cache_bit_width", 8);
  if (format.bits != 4 && format.bits != 8)
    return n.fail("kv_cache_bit_width is " + llvm::Twine(format.bits) + ", expected 4 or 8"),
           format;
  format.scale = read_scale(n, source, type == "PER_TENSOR" ? Dims{} : Dims{heads, 1, size});
  if (format.bits == 4) {
    format.stored_size = floordiv(size, 2);
    n.require_equal(format.stored_size * DimExpr(2), size,
                    "the heads have {1} channels, expected an even number with 4-bit caches");
  }
  if (n.has_input(source.past)) {
    if (n.small_type(source.past))
      return n.unsupported("caches of 8-bit floats are not supported"), format;
    check_dtype(n, n.input(source.past), "a quantised cache",
                {format.bits == 8 ? DType::kI8 : DType::kU8});
  }
  return format;
}

Value stored(Node& n, const CacheFormat& format, Value x) {
  if (!format.scale || n.has_failed()) return x;
  const Formula q(n, quantise(n, n.cast(x, DType::kF32), format.scale, {}, DType::kI8));
  if (format.bits == 8 || n.has_failed()) return q;
  const Formula wide = q.as(DType::kI32);
  const Formula number = min(max(wide, -8), 7) + 8;
  Dims dims(number.shape());
  dims.back() = floordiv(dims.back(), 2);
  const int64_t last = number.rank();
  dims.push_back(2);
  const Formula pairs = number.reshape(dims);
  return (pairs.element_at(last, 0) + pairs.element_at(last, 1) * 16).as(DType::kU8);
}

Value restored(Node& n, const CacheFormat& format, Value x) {
  if (!format.scale || n.has_failed()) return x;
  Formula number = Formula(n, unpack_bits(n, x, format.bits)).as(DType::kF32);
  if (format.bits == 4) {
    Dims dims(number.shape());
    dims.back() = format.size;
    number = number.reshape(dims) - 8;
  }
  return number * Formula(n, format.scale);
}

}  // namespace scopevm::compiler::frontend
