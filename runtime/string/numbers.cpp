// Parses and formats numbers of every element type; see numbers.h.
#include "runtime/string/numbers.h"

#include <locale.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <type_traits>

namespace scopevm::runtime {
namespace {

constexpr std::string_view kBlanks = " \t\n\v\f\r";

std::string_view trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

template <typename T>
void store(T value, void* element) {
  std::memcpy(element, &value, sizeof value);
}

template <typename T>
T load(const void* element) {
  T value;
  std::memcpy(&value, element, sizeof value);
  return value;
}

// --- 16-bit floats. -----------------------------------------------------------------------------

// A double represents all values of these formats, and the intermediate values of rounding,
// exactly.
struct NarrowFormat {
  int fraction_bits;
  int max_exponent;  // exponent of the largest finite number
};
constexpr NarrowFormat kF16 = {10, 15}, kBF16 = {7, 127};

// The bits of `value` rounded to nearest, ties to even.
uint16_t narrow(double value, NarrowFormat format) {
  const auto sign = static_cast<uint16_t>(std::signbit(value) ? 0x8000 : 0);
  const int least_exponent = 1 - format.max_exponent;  // smallest exponent of normal numbers
  const auto infinity =
      static_cast<uint16_t>((2 * format.max_exponent + 1) << format.fraction_bits);
  const double magnitude = std::fabs(value);
  if (std::isnan(value)) return sign | infinity | (1 << (format.fraction_bits - 1));
  int exponent = least_exponent;
  if (magnitude > 0 && std::isfinite(magnitude))
    exponent = std::max(exponent, std::ilogb(magnitude));
  // The magnitude in units in the last place, at most 2^(fraction_bits + 1). At that value the
  // addition below carries into the exponent. ldexp is exact, because a double has more digits than
  // the format; nearbyint rounds ties to even in the default rounding mode.
  const double units = std::nearbyint(std::ldexp(magnitude, format.fraction_bits - exponent));
  if (!std::isfinite(magnitude) || exponent > format.max_exponent) return sign | infinity;
  const int64_t biased = static_cast<int64_t>(exponent - least_exponent) << format.fraction_bits;
  return static_cast<uint16_t>(sign | static_cast<uint16_t>(biased + static_cast<int64_t>(units)));
}

double widen(uint16_t bits, NarrowFormat format) {
  const int exponent = (bits & 0x7fff) >> format.fraction_bits;
  const int fraction = bits & ((1 << format.fraction_bits) - 1);
  const double sign = (bits & 0x8000) != 0 ? -1 : 1;
  const int scale = -format.fraction_bits - format.max_exponent;
  if (exponent == 2 * format.max_exponent + 1) return fraction != 0 ? NAN : sign * INFINITY;
  if (exponent == 0) return sign * std::ldexp(fraction, 1 + scale);
  return sign * std::ldexp(fraction + (1 << format.fraction_bits), exponent + scale);
}

// --- Parsing. -----------------------------------------------------------------------------------

template <typename T>
bool parse_integer(std::string_view text, void* element) {
  // from_chars does not accept a plus sign.
  if (text.starts_with('+')) {
    text.remove_prefix(1);
    if (text.starts_with('-')) return false;
  }
  T value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return false;
  store(value, element);
  return true;
}

// Numbers are parsed in the C locale, independently of the program's locale.
locale_t c_locale() {
  static const locale_t locale = newlocale(LC_ALL_MASK, "C", nullptr);
  return locale;
}

// Bounds the cost of malicious input; longer strings are rejected.
constexpr size_t kLongestNumber = 4096;

template <typename T>
bool parse_float(std::string_view text, T& value) {
  if (text.size() > kLongestNumber) return false;
  const std::string copy(text);
  char* end = nullptr;
  if constexpr (std::is_same_v<T, float>)
    value = strtof_l(copy.c_str(), &end, c_locale());
  else
    value = strtod_l(copy.c_str(), &end, c_locale());
  return !copy.empty() && end == copy.c_str() + copy.size();
}

bool parse_bool(std::string_view text, void* element) {
  for (const std::string_view yes : {"1", "True", "true", "TRUE"})
    if (text == yes) return store(uint8_t{1}, element), true;
  for (const std::string_view no : {"0", "False", "false", "FALSE"})
    if (text == no) return store(uint8_t{0}, element), true;
  return false;
}

bool parse_narrow(std::string_view text, NarrowFormat format, void* element) {
  double value = 0;
  if (!parse_float(text, value)) return false;
  store(narrow(value, format), element);
  return true;
}

template <typename T>
bool parse_wide(std::string_view text, void* element) {
  T value = 0;
  if (!parse_float(text, value)) return false;
  store(value, element);
  return true;
}

// --- Formatting. --------------------------------------------------------------------------------

// Formats a number as NumPy does. `digits` is the number in the scientific format of to_chars:
// "-1.25e+02". Magnitudes below 1e-4 and from 1e16 on keep the exponent. Other magnitudes have a
// decimal point with at least one digit after it. The exact value selects the format: the f32
// nearest to 1e-4 prints as 1e-04 because it is below 1e-4.
std::string written(std::string_view digits, double value) {
  const double magnitude = std::fabs(value);
  if (magnitude != 0 && (magnitude < 1e-4 || magnitude >= 1e16)) return std::string(digits);
  const size_t e = digits.find('e');
  int exponent = 0;
  const std::string_view power = digits.substr(e + 1);
  std::from_chars(power.data() + (power.front() == '+' ? 1 : 0), power.data() + power.size(),
                  exponent);
  std::string text, plain;
  for (const char c : digits.substr(0, e))
    if (c >= '0' && c <= '9') plain += c;
  if (digits.front() == '-') text = "-";
  if (exponent < 0)
    return text + "0." + std::string(static_cast<size_t>(-exponent - 1), '0') + plain;
  const auto whole = static_cast<size_t>(exponent) + 1;
  if (plain.size() <= whole) return text + plain + std::string(whole - plain.size(), '0') + ".0";
  return text + plain.substr(0, whole) + "." + plain.substr(whole);
}

template <typename T>
std::string special(T value) {
  if (std::isnan(value)) return "nan";
  return value > 0 ? "inf" : "-inf";
}

template <typename T>
std::string format_float(T value) {
  if (!std::isfinite(value)) return special(value);
  char digits[64];
  const auto end =
      std::to_chars(digits, digits + sizeof digits, value, std::chars_format::scientific).ptr;
  return written({digits, static_cast<size_t>(end - digits)}, value);
}

// Finds the fewest digits that round to the same bits. A tie in the last digit is rounded away from
// zero if only that result reads back as the same value.
std::string format_narrow(uint16_t bits, NarrowFormat format) {
  const double value = widen(bits, format);
  if (!std::isfinite(value)) return special(value);
  char digits[64];
  for (int precision = 0;; ++precision) {
    // to_chars rounds an exact tie to even. The next double away from zero is not a tie, so its
    // digits are rounded away from zero.
    for (const double near : {value, std::nextafter(value, 2 * value)}) {
      const auto end = std::to_chars(digits, digits + sizeof digits, near,
                                     std::chars_format::scientific, precision)
                           .ptr;
      double rounded = 0;
      std::from_chars(digits, end, rounded);
      if (narrow(rounded, format) == bits || precision == 17)
        return written({digits, static_cast<size_t>(end - digits)}, value);
    }
  }
}

}  // namespace

bool parse_number(std::string_view text, DType dtype, void* element) {
  text = trimmed(text);
  switch (dtype) {
    case DType::kBool:
      return parse_bool(text, element);
    case DType::kI8:
      return parse_integer<int8_t>(text, element);
    case DType::kI16:
      return parse_integer<int16_t>(text, element);
    case DType::kI32:
      return parse_integer<int32_t>(text, element);
    case DType::kI64:
      return parse_integer<int64_t>(text, element);
    case DType::kU8:
      return parse_integer<uint8_t>(text, element);
    case DType::kU16:
      return parse_integer<uint16_t>(text, element);
    case DType::kU32:
      return parse_integer<uint32_t>(text, element);
    case DType::kU64:
      return parse_integer<uint64_t>(text, element);
    case DType::kF16:
      return parse_narrow(text, kF16, element);
    case DType::kBF16:
      return parse_narrow(text, kBF16, element);
    case DType::kF32:
      return parse_wide<float>(text, element);
    case DType::kF64:
      return parse_wide<double>(text, element);
    case DType::kStr:
      break;
  }
  return false;
}

std::string format_number(DType dtype, const void* element) {
  switch (dtype) {
    case DType::kBool:
      return load<uint8_t>(element) != 0 ? "True" : "False";
    case DType::kI8:
      return std::to_string(load<int8_t>(element));
    case DType::kI16:
      return std::to_string(load<int16_t>(element));
    case DType::kI32:
      return std::to_string(load<int32_t>(element));
    case DType::kI64:
      return std::to_string(load<int64_t>(element));
    case DType::kU8:
      return std::to_string(load<uint8_t>(element));
    case DType::kU16:
      return std::to_string(load<uint16_t>(element));
    case DType::kU32:
      return std::to_string(load<uint32_t>(element));
    case DType::kU64:
      return std::to_string(load<uint64_t>(element));
    case DType::kF16:
      return format_narrow(load<uint16_t>(element), kF16);
    case DType::kBF16:
      return format_narrow(load<uint16_t>(element), kBF16);
    case DType::kF32:
      return format_float(load<float>(element));
    case DType::kF64:
      return format_float(load<double>(element));
    case DType::kStr:
      break;
  }
  return "";
}

}  // namespace scopevm::runtime
