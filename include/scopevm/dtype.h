/// @file
/// Element types. The numeric values are part of the module format and are frozen once released.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace scopevm {

/// Element type of a tensor.
enum class DType : uint8_t {
  kBool = 0,  ///< one byte, 0 or 1
  kI8 = 1,
  kI16 = 2,
  kI32 = 3,
  kI64 = 4,
  kU8 = 5,
  kU16 = 6,
  kU32 = 7,
  kU64 = 8,
  kF16 = 9,
  kBF16 = 10,
  kF32 = 11,
  kF64 = 12,
  kStr = 13,  ///< string; the VM stores an i32 string id (docs/decisions/0007-strings.md)
  // The small types, of inputs with their defaults, outputs and states. A program converts them to
  // wider types. The layout and the numbers of each: runtime/tensor/small_type.h.
  kI4 = 14,          ///< signed integer of 4 bits; two share a byte, the first in its low bits
  kU4 = 15,          ///< unsigned integer of 4 bits
  kI2 = 16,          ///< signed integer of 2 bits; four share a byte
  kU2 = 17,          ///< unsigned integer of 2 bits
  kF4E2M1Fn = 18,    ///< float of 4 bits (OCP microscaling formats); two share a byte
  kF8E4M3Fn = 19,    ///< float of 8 bits (OCP), no infinities
  kF8E4M3Fnuz = 20,  ///< float of 8 bits, no infinities and one zero
  kF8E5M2 = 21,      ///< float of 8 bits (OCP)
  kF8E5M2Fnuz = 22,  ///< float of 8 bits, no infinities and one zero
  kF8E8M0Fnu = 23,   ///< power of two of 8 bits (OCP microscaling formats)
};
/// Number of element types.
inline constexpr int kDTypeCount = 24;

/// True for the types of 2 to 8 bits whose elements a program only converts: kI4 to kF8E8M0Fnu.
constexpr bool is_small(DType dtype) { return dtype >= DType::kI4; }

/// The number of elements that share a byte: 2 or 4 for the types of 4 and 2 bits, else 1.
constexpr int64_t elements_per_byte(DType dtype) {
  if (dtype == DType::kI2 || dtype == DType::kU2) return 4;
  return dtype >= DType::kI4 && dtype <= DType::kF4E2M1Fn ? 2 : 1;
}

/// Bytes of one element; 1 if several elements share a byte. For kStr: the size of a string id.
constexpr int64_t byte_size(DType dtype) {
  constexpr int8_t kSizes[kDTypeCount] = {1, 1, 2, 4, 8, 1, 2, 4, 8, 2, 2, 4,
                                          8, 4, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
  return kSizes[static_cast<int>(dtype)];
}

/// Bytes of `count` elements in a tensor, whose last byte can have unused bits.
/// REQUIRES: count >= 0, and count * byte_size(dtype) fits 64 bits.
constexpr int64_t byte_size(DType dtype, int64_t count) {
  const int64_t shared = elements_per_byte(dtype);
  return (count / shared + (count % shared != 0 ? 1 : 0)) * byte_size(dtype);
}

/// "f32", "i64", "bool", ...: the names used in assembly and messages.
constexpr std::string_view name(DType dtype) {
  constexpr std::string_view kNames[kDTypeCount] = {
      "bool", "i8",  "i16",      "i32",      "i64",        "u8",     "u16",        "u32",
      "u64",  "f16", "bf16",     "f32",      "f64",        "str",    "i4",         "u4",
      "i2",   "u2",  "f4e2m1fn", "f8e4m3fn", "f8e4m3fnuz", "f8e5m2", "f8e5m2fnuz", "f8e8m0fnu"};
  return kNames[static_cast<int>(dtype)];
}

/// True for the floating-point types that programs compute with: f16, bf16, f32, f64.
constexpr bool is_float(DType dtype) { return dtype >= DType::kF16 && dtype <= DType::kF64; }

/// True for the types of integers whose least number is 0: bool, u8, u16, u32, u64.
constexpr bool is_unsigned(DType dtype) {
  return dtype == DType::kBool || (dtype >= DType::kU8 && dtype <= DType::kU64);
}

/// The inverse of name(); no value for an unknown name.
constexpr std::optional<DType> parse_dtype(std::string_view text) {
  for (int i = 0; i < kDTypeCount; ++i)
    if (name(static_cast<DType>(i)) == text) return static_cast<DType>(i);
  return std::nullopt;
}

}  // namespace scopevm
