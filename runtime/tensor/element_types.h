// The elements of tensors as values of C++, for code that is written once for all element types.
#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "scopevm/dtype.h"

namespace scopevm::runtime {

// A float of 16 bits. A double represents all values of these formats, and the intermediate values
// of rounding, exactly.
template <int kFractionBits, int kMaxExponent>  // of the largest finite number
struct NarrowFloat {
  uint16_t bits = 0;

  NarrowFloat() = default;
  // Rounds to nearest, ties to even.
  explicit NarrowFloat(double value) {
    const auto sign = static_cast<uint16_t>(std::signbit(value) ? 0x8000 : 0);
    constexpr int kLeastExponent = 1 - kMaxExponent;  // of normal numbers
    constexpr auto kInfinity = static_cast<uint16_t>((2 * kMaxExponent + 1) << kFractionBits);
    const double magnitude = std::fabs(value);
    bits = sign | kInfinity;
    if (std::isnan(value)) bits |= 1 << (kFractionBits - 1);
    if (!std::isfinite(magnitude)) return;
    const int exponent =
        magnitude > 0 ? std::max(kLeastExponent, std::ilogb(magnitude)) : kLeastExponent;
    if (exponent > kMaxExponent) return;
    // The magnitude in units in the last place, at most 2^(kFractionBits + 1). At that value the
    // addition below carries into the exponent. ldexp is exact, because a double has more digits
    // than the format; nearbyint rounds ties to even in the default rounding mode.
    const double units = std::nearbyint(std::ldexp(magnitude, kFractionBits - exponent));
    const int64_t biased = static_cast<int64_t>(exponent - kLeastExponent) << kFractionBits;
    bits = sign | static_cast<uint16_t>(biased + static_cast<int64_t>(units));
  }

  explicit operator double() const {
    const int exponent = (bits & 0x7fff) >> kFractionBits;
    const int fraction = bits & ((1 << kFractionBits) - 1);
    const double sign = (bits & 0x8000) != 0 ? -1 : 1;
    constexpr int kScale = -kFractionBits - kMaxExponent;
    if (exponent == 2 * kMaxExponent + 1) return fraction != 0 ? NAN : sign * INFINITY;
    if (exponent == 0) return sign * std::ldexp(fraction, 1 + kScale);
    return sign * std::ldexp(fraction + (1 << kFractionBits), exponent + kScale);
  }

  bool operator==(const NarrowFloat&) const = default;  // compares the bits
};
using Float16 = NarrowFloat<10, 15>;
using BFloat16 = NarrowFloat<7, 127>;

template <typename T>
concept NarrowFloatType = std::same_as<T, Float16> || std::same_as<T, BFloat16>;

// An element; a bool is true if its byte is not 0.
template <typename T>
T load_element(const void* element) {
  std::conditional_t<std::same_as<T, bool>, uint8_t, T> value;
  std::memcpy(&value, element, sizeof value);
  return static_cast<T>(value);
}

// Calls `visit` with a value of the type of the elements. A string is represented by its id, and an
// element of a small type by its byte, which it can share.
template <typename Visit>
auto visit_element_type(DType dtype, Visit&& visit) {
  // Visitors that read only the size of the value have equal branches.
  // NOLINTBEGIN(bugprone-branch-clone)
  switch (dtype) {
    case DType::kBool:
      return visit(bool());
    case DType::kI8:
      return visit(int8_t());
    case DType::kI16:
      return visit(int16_t());
    case DType::kI32:
    case DType::kStr:
      return visit(int32_t());
    case DType::kI64:
      return visit(int64_t());
    case DType::kU8:
    case DType::kI4:
    case DType::kU4:
    case DType::kI2:
    case DType::kU2:
    case DType::kF4E2M1Fn:
    case DType::kF8E4M3Fn:
    case DType::kF8E4M3Fnuz:
    case DType::kF8E5M2:
    case DType::kF8E5M2Fnuz:
    case DType::kF8E8M0Fnu:
      return visit(uint8_t());
    case DType::kU16:
      return visit(uint16_t());
    case DType::kU32:
      return visit(uint32_t());
    case DType::kU64:
      return visit(uint64_t());
    case DType::kF16:
      return visit(Float16());
    case DType::kBF16:
      return visit(BFloat16());
    case DType::kF32:
      return visit(float());
    case DType::kF64:
      return visit(double());
  }
  // NOLINTEND(bugprone-branch-clone)
  return visit(int32_t());
}

}  // namespace scopevm::runtime
