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
};
/// Number of element types.
inline constexpr int kDTypeCount = 14;

/// Bytes of one element. For kStr: the size of a string id.
constexpr int64_t byte_size(DType dtype) {
  constexpr int8_t kSizes[kDTypeCount] = {1, 1, 2, 4, 8, 1, 2, 4, 8, 2, 2, 4, 8, 4};
  return kSizes[static_cast<int>(dtype)];
}

/// "f32", "i64", "bool", ...: the names used in assembly and messages.
constexpr std::string_view name(DType dtype) {
  constexpr std::string_view kNames[kDTypeCount] = {"bool", "i8",  "i16", "i32", "i64",
                                                    "u8",   "u16", "u32", "u64", "f16",
                                                    "bf16", "f32", "f64", "str"};
  return kNames[static_cast<int>(dtype)];
}

/// True for the floating-point types: f16, bf16, f32, f64.
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
