// Small element types; see small_types.h. ONNX defines the formats in
// docs/docsgen/source/technical.
#include "compiler/import/model/small_types.h"

#include <onnx/onnx_pb.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>

namespace scopevm::compiler::frontend {
namespace {

using Kind = SmallType::Kind;
using Specials = SmallType::Specials;

// The enumeration of libonnx does not have all codes.
constexpr SmallType kTypes[] = {
    {17, Kind::kFloat, 8, DType::kF16, true, 3, 7, Specials::kNan, 448},             // E4M3FN
    {18, Kind::kFloat, 8, DType::kF16, true, 3, 8, Specials::kUnsignedNan, 240},     // E4M3FNUZ
    {19, Kind::kFloat, 8, DType::kF16, true, 2, 15, Specials::kInfinite, 57344},     // E5M2
    {20, Kind::kFloat, 8, DType::kF16, true, 2, 16, Specials::kUnsignedNan, 57344},  // E5M2FNUZ
    {21, Kind::kInteger, 4, DType::kU8, false},
    {22, Kind::kInteger, 4, DType::kI8},
    {23, Kind::kFloat, 4, DType::kF16, true, 1, 1, Specials::kNone, 6},  // E2M1
    {24, Kind::kExponent, 8, DType::kBF16, false, 0, 127},               // E8M0
    {25, Kind::kInteger, 2, DType::kU8, false},
    {26, Kind::kInteger, 2, DType::kI8},
};

// The bits of `value` as the carrier. REQUIRES: the carrier represents it.
void store(const SmallType& type, double value, char* to) {
  if (type.carrier == DType::kF16) {
    const auto half = static_cast<_Float16>(value);
    std::memcpy(to, &half, 2);
  } else if (type.carrier == DType::kBF16) {
    const auto bits =
        static_cast<uint16_t>(std::bit_cast<uint32_t>(static_cast<float>(value)) >> 16);
    std::memcpy(to, &bits, 2);
  } else {
    *to = static_cast<char>(static_cast<int>(value));
  }
}

}  // namespace

const SmallType* small_type(int onnx_code) {
  for (const SmallType& type : kTypes)
    if (type.code == onnx_code) return &type;
  return nullptr;
}

double SmallType::value_of(unsigned pattern) const {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  if (kind == Kind::kInteger) {
    const auto number = static_cast<int64_t>(pattern);
    return static_cast<double>(number > greatest() ? number - (int64_t{1} << bits) : number);
  }
  if (kind == Kind::kExponent)
    return pattern == 255 ? kNan : std::ldexp(1.0, static_cast<int>(pattern) - bias);
  const unsigned sign_bit = 1u << (bits - 1), magnitude = pattern & (sign_bit - 1);
  const bool is_negative = (pattern & sign_bit) != 0;
  const unsigned mantissa = magnitude & ((1u << mantissa_bits) - 1);
  const auto exponent = static_cast<int>(magnitude >> mantissa_bits);
  const int last_exponent = static_cast<int>((sign_bit - 1) >> mantissa_bits);
  if (specials == Specials::kNan && magnitude == sign_bit - 1) return kNan;
  if (specials == Specials::kUnsignedNan && is_negative && magnitude == 0) return kNan;
  if (specials == Specials::kInfinite && exponent == last_exponent) {
    if (mantissa != 0) return kNan;
    return is_negative ? -std::numeric_limits<double>::infinity()
                       : std::numeric_limits<double>::infinity();
  }
  const double fraction = std::ldexp(mantissa, -mantissa_bits);
  const double value = exponent == 0 ? std::ldexp(fraction, least_exponent())
                                     : std::ldexp(1 + fraction, exponent - bias);
  return is_negative ? -value : value;
}

size_t packed_size(const SmallType& type, size_t count) {
  return (count * static_cast<size_t>(type.bits) + 7) / 8;
}

std::vector<char> unpacked(const SmallType& type, const char* packed, size_t count) {
  const auto size = static_cast<size_t>(byte_size(type.carrier)),
             bits = static_cast<size_t>(type.bits);
  const unsigned mask = (1u << bits) - 1;
  // The elements by pattern.
  std::vector<char> values((mask + 1) * size), elements(count * size);
  for (unsigned pattern = 0; pattern <= mask; ++pattern)
    store(type, type.value_of(pattern), values.data() + pattern * size);
  for (size_t i = 0; i < count; ++i) {
    const auto byte = static_cast<unsigned char>(packed[i * bits / 8]);
    const unsigned pattern = (byte >> (i * bits % 8)) & mask;
    std::memcpy(elements.data() + i * size, values.data() + pattern * size, size);
  }
  return elements;
}

}  // namespace scopevm::compiler::frontend
