// Parses and formats numbers of every element type; see numbers.h.
#include "runtime/string/numbers.h"

#include <locale.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <concepts>
#include <cstdlib>
#include <cstring>
#include <iterator>

#include "runtime/tensor/element_types.h"

namespace scopevm::runtime {
namespace {

constexpr std::string_view kBlanks = " \t\n\v\f\r";

std::string_view trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

// Each parse() stores the number that the whole text denotes.
bool parse(std::string_view text, std::integral auto& value) {
  // from_chars does not accept a plus sign.
  if (text.starts_with('+')) {
    text.remove_prefix(1);
    if (text.starts_with('-')) return false;
  }
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return !text.empty() && error == std::errc() && end == text.data() + text.size();
}

bool parse(std::string_view text, bool& value) {
  constexpr std::string_view kTrue[] = {"1", "True", "true", "TRUE"};
  constexpr std::string_view kFalse[] = {"0", "False", "false", "FALSE"};
  value = std::ranges::find(kTrue, text) != std::end(kTrue);
  return value || std::ranges::find(kFalse, text) != std::end(kFalse);
}

// Numbers are parsed in the C locale, independently of the program's locale.
locale_t c_locale() {
  static const locale_t locale = newlocale(LC_ALL_MASK, "C", nullptr);
  return locale;
}

// Bounds the cost of malicious input; longer strings are rejected.
constexpr size_t kLongestNumber = 4096;

bool parse(std::string_view text, std::floating_point auto& value) {
  if (text.size() > kLongestNumber) return false;
  const std::string copy(text);
  char* end = nullptr;
  if constexpr (sizeof value == sizeof(float))
    value = strtof_l(copy.c_str(), &end, c_locale());
  else
    value = strtod_l(copy.c_str(), &end, c_locale());
  return !copy.empty() && end == copy.c_str() + copy.size();
}

template <NarrowFloatType T>
bool parse(std::string_view text, T& value) {
  double exact = 0;
  if (!parse(text, exact)) return false;
  value = T(exact);
  return true;
}

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

std::string format(std::integral auto value) { return std::to_string(value); }
std::string format(bool value) { return value ? "True" : "False"; }

std::string format(std::floating_point auto value) {
  if (!std::isfinite(value)) return special(value);
  char digits[64];
  const auto end =
      std::to_chars(digits, digits + sizeof digits, value, std::chars_format::scientific).ptr;
  return written({digits, static_cast<size_t>(end - digits)}, value);
}

// Finds the fewest digits that round to the same bits. A tie in the last digit is rounded away from
// zero if only that result reads back as the same value.
template <NarrowFloatType T>
std::string format(T narrow) {
  const auto value = static_cast<double>(narrow);
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
      if (T(rounded) == narrow || precision == 17)
        return written({digits, static_cast<size_t>(end - digits)}, value);
    }
  }
}

}  // namespace

bool parse_number(std::string_view text, DType dtype, void* element) {
  return visit_element_type(dtype, [&](auto value) {
    if (!parse(trimmed(text), value)) return false;
    std::memcpy(element, &value, sizeof value);
    return true;
  });
}

std::string format_number(DType dtype, const void* element) {
  return visit_element_type(
      dtype, [&](auto type) { return format(load_element<decltype(type)>(element)); });
}

}  // namespace scopevm::runtime
