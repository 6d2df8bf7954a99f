// The formats of the small types; see small_type.h.
#include "runtime/tensor/small_type.h"

#include <cmath>
#include <cstring>
#include <limits>

#include "runtime/tensor/element_types.h"

namespace scopevm::runtime {
namespace {

using Kind = SmallType::Kind;
using Specials = SmallType::Specials;

constexpr SmallType kTypes[] = {
    {DType::kI4, Kind::kInteger, 4, DType::kI8},
    {DType::kU4, Kind::kInteger, 4, DType::kU8, false},
    {DType::kI2, Kind::kInteger, 2, DType::kI8},
    {DType::kU2, Kind::kInteger, 2, DType::kU8, false},
    {DType::kF4E2M1Fn, Kind::kFloat, 4, DType::kF16, true, 1, 1, Specials::kNone, 6},
    {DType::kF8E4M3Fn, Kind::kFloat, 8, DType::kF16, true, 3, 7, Specials::kNan, 448},
    {DType::kF8E4M3Fnuz, Kind::kFloat, 8, DType::kF16, true, 3, 8, Specials::kUnsignedNan, 240},
    {DType::kF8E5M2, Kind::kFloat, 8, DType::kF16, true, 2, 15, Specials::kInfinite, 57344},
    {DType::kF8E5M2Fnuz, Kind::kFloat, 8, DType::kF16, true, 2, 16, Specials::kUnsignedNan, 57344},
    {DType::kF8E8M0Fnu, Kind::kExponent, 8, DType::kBF16, false, 0, 127},
};

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// REQUIRES: the carrier represents the value.
void store(const SmallType& type, double value, char* to) {
  if (type.carrier == DType::kF16) {
    const Float16 half(value);
    std::memcpy(to, &half.bits, sizeof half.bits);
  } else if (type.carrier == DType::kBF16) {
    const BFloat16 half(value);
    std::memcpy(to, &half.bits, sizeof half.bits);
  } else {
    *to = static_cast<char>(static_cast<int>(value));
  }
}

bool is_equal(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  return a == b && std::signbit(a) == std::signbit(b);
}

}  // namespace

const SmallType* small_type(DType dtype) {
  for (const SmallType& type : kTypes)
    if (type.dtype == dtype) return &type;
  return nullptr;
}

double SmallType::value_of(unsigned pattern) const {
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

std::optional<unsigned> SmallType::pattern_of(double value) const {
  const bool has_negative_zero = kind == Kind::kFloat && specials != Specials::kUnsignedNan;
  if (value == 0 && !has_negative_zero) value = 0;
  for (unsigned pattern = 0; pattern < 1u << bits; ++pattern)
    if (is_equal(value_of(pattern), value)) return pattern;
  return std::nullopt;
}

unsigned pattern_at(const SmallType& type, const void* packed, int64_t index) {
  const int64_t at = index * type.bits;
  const auto byte = static_cast<const uint8_t*>(packed)[at / 8];
  return (unsigned{byte} >> (at % 8)) & ((1u << type.bits) - 1);
}

std::vector<char> all_elements(const SmallType& type) {
  const auto size = static_cast<size_t>(byte_size(type.carrier));
  const unsigned patterns = 1u << type.bits;
  std::vector<char> elements(patterns * size);
  for (unsigned pattern = 0; pattern < patterns; ++pattern)
    store(type, type.value_of(pattern), elements.data() + pattern * size);
  return elements;
}

std::vector<char> widened(const SmallType& type, const void* packed, int64_t count) {
  const auto size = static_cast<size_t>(byte_size(type.carrier));
  const std::vector<char> values = all_elements(type);
  std::vector<char> elements(static_cast<size_t>(count) * size);
  char* to = elements.data();
  for (int64_t i = 0; i < count; ++i, to += size)
    std::memcpy(to, values.data() + pattern_at(type, packed, i) * size, size);
  return elements;
}

void set_pattern(const SmallType& type, void* packed, int64_t index, unsigned pattern) {
  const int64_t at = index * type.bits;
  static_cast<uint8_t*>(packed)[at / 8] |= static_cast<uint8_t>(pattern << (at % 8));
}

std::optional<std::vector<uint8_t>> narrowed(const SmallType& type, const void* elements,
                                             int64_t count) {
  const int64_t size = byte_size(type.carrier);
  std::vector<uint8_t> packed(static_cast<size_t>(byte_size(type.dtype, count)));
  // By the bits of the carrier; a search for each element would take long.
  constexpr int kUnknown = -1;
  std::vector<int> patterns(size_t{1} << (8 * size), kUnknown);
  for (int64_t i = 0; i < count; ++i) {
    const char* const element = static_cast<const char*>(elements) + i * size;
    uint16_t bits = 0;
    std::memcpy(&bits, element, static_cast<size_t>(size));
    int& pattern = patterns[bits];
    if (pattern == kUnknown) {
      const std::optional<unsigned> found = type.pattern_of(carrier_value(type, element));
      if (!found) return std::nullopt;
      pattern = static_cast<int>(*found);
    }
    set_pattern(type, packed.data(), i, static_cast<unsigned>(pattern));
  }
  return packed;
}

double carrier_value(const SmallType& type, const void* element) {
  if (type.carrier == DType::kF16) return static_cast<double>(load_element<Float16>(element));
  if (type.carrier == DType::kBF16) return static_cast<double>(load_element<BFloat16>(element));
  if (type.carrier == DType::kI8) return load_element<int8_t>(element);
  return load_element<uint8_t>(element);
}

}  // namespace scopevm::runtime
