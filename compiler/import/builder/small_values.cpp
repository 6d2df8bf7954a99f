// Conversions by tables; see small_values.h.
#include "compiler/import/builder/small_values.h"

#include <cmath>
#include <memory>
#include <vector>

#include "compiler/import/builder/constants.h"

namespace scopevm::compiler::frontend {
namespace {

using namespace graph;  // NOLINT: the ops
using mlir::Value;

template <typename Op>
Value emit(GraphBuilder& builder, llvm::ArrayRef<Value> operands,
           llvm::ArrayRef<mlir::NamedAttribute> attributes = {}) {
  return builder.emit(Op::getOperationName(), operands, attributes)->getResult(0);
}

mlir::NamedAttribute named(GraphBuilder& builder, DType to) {
  const std::string_view text = name(to);
  return builder.getNamedAttr("to",
                              builder.getStringAttr(llvm::StringRef(text.data(), text.size())));
}

Value cast(GraphBuilder& builder, Value x, DType to) {
  return emit<CastOp>(builder, {x}, named(builder, to));
}

Value bit_cast(GraphBuilder& builder, Value x, DType to) {
  return emit<BitCastOp>(builder, {x}, named(builder, to));
}

// table[index] for indices of an unsigned type.
Value looked_up(GraphBuilder& builder, DType dtype, llvm::ArrayRef<char> table, Value index) {
  const int64_t size = static_cast<int64_t>(table.size()) / byte_size(dtype);
  auto bytes = std::make_shared<std::vector<char>>(table.begin(), table.end());
  const Value constant = make_constant(
      builder, {dtype, {size}, bytes->data(), bytes->size(), bytes, {}}, "small_type");
  return emit<GatherOp>(builder, {constant, cast(builder, index, DType::kI32)},
                        builder.getNamedAttr("axis", builder.getI64IntegerAttr(0)));
}

// The low bits of an f16 that is an element of a small type are 0.
constexpr int kUnusedBits = 6;

// The bits of the elements by the other bits of the f16.
std::vector<char> float_patterns(const SmallType& type) {
  std::vector<char> patterns(size_t{1} << (16 - kUnusedBits));
  for (size_t i = 0; i < patterns.size(); ++i) {
    const auto half = static_cast<uint16_t>(i << kUnusedBits);
    patterns[i] = static_cast<char>(type.pattern_of(carrier_value(type, &half)).value_or(0));
  }
  return patterns;
}

}  // namespace

Value bits_of_small(GraphBuilder& builder, Value values, const SmallType& type) {
  if (type.kind == SmallType::Kind::kInteger) {
    const Value bits = type.is_signed ? bit_cast(builder, values, DType::kU8) : values;
    return emit<BitAndOp>(builder, {bits, make_scalar(builder, (1 << type.bits) - 1, DType::kU8)});
  }
  const auto shifted = [&](int count) {
    return emit<ShiftRightOp>(builder, {bit_cast(builder, values, DType::kU16),
                                        make_scalar(builder, count, DType::kU16)});
  };
  // The exponents of bf16 are those of a power of two. A NaN can have a sign.
  if (type.kind == SmallType::Kind::kExponent)
    return cast(builder,
                emit<BitAndOp>(builder, {shifted(7), make_scalar(builder, 255, DType::kU16)}),
                DType::kU8);
  // One NaN for all of them.
  const Value is_nan = emit<IsNanOp>(builder, {values});
  values = emit<SelectOp>(builder, {is_nan, make_scalar(builder, NAN, DType::kF16), values});
  return looked_up(builder, DType::kU8, float_patterns(type), shifted(kUnusedBits));
}

Value small_of_bits(GraphBuilder& builder, Value bits, const SmallType& type) {
  return looked_up(builder, type.carrier, runtime::all_elements(type), bits);
}

Value unpack_small(GraphBuilder& builder, Value packed, const SmallType& type) {
  return small_of_bits(builder, emit<UnpackBitsOp>(builder, {packed}), type);
}

Value pack_small(GraphBuilder& builder, Value values, const SmallType& type) {
  return emit<PackBitsOp>(builder, {bits_of_small(builder, values, type)},
                          named(builder, type.dtype));
}

}  // namespace scopevm::compiler::frontend
