// Quoting and base64 (RFC 4648); see spelling.h.
#include "vm/format/assembly/spelling.h"

#include <algorithm>
#include <array>

namespace scopevm::format::assembly {
namespace {

constexpr std::string_view kDigits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr uint64_t kBytesPerLine = 57;  // 76 digits

constexpr std::array<int8_t, 256> digit_values() {
  std::array<int8_t, 256> values = {};
  values.fill(-1);
  for (size_t i = 0; i < kDigits.size(); ++i)
    values[static_cast<uint8_t>(kDigits[i])] = static_cast<int8_t>(i);
  return values;
}
constexpr auto kDigitValues = digit_values();

// Encodes one to three bytes as four digits.
void append_group(std::string& out, const uint8_t* bytes, uint64_t count) {
  uint32_t bits = uint32_t{bytes[0]} << 16;
  if (count > 1) bits |= uint32_t{bytes[1]} << 8;
  if (count > 2) bits |= bytes[2];
  for (uint64_t i = 0; i < 4; ++i) out += i <= count ? kDigits[(bits >> (18 - 6 * i)) & 63] : '=';
}

// True for the control characters of ASCII, and for both bytes of U+0080 to U+009F in UTF-8.
bool is_control(std::string_view text, size_t at) {
  constexpr char kLead = '\xc2';
  const auto is_continuation = [&](size_t i) {
    return i < text.size() && static_cast<uint8_t>(text[i]) >> 5 == 0x80 >> 5;
  };
  const auto byte = static_cast<uint8_t>(text[at]);
  return byte < 32 || byte == 127 || (text[at] == kLead && is_continuation(at + 1)) ||
         (at > 0 && text[at - 1] == kLead && is_continuation(at));
}

}  // namespace

bool is_plain_name(std::string_view text) {
  return !text.empty() && is_name_start(text.front()) && std::ranges::all_of(text, is_name_part);
}

void append_quoted(std::string& out, std::string_view text) {
  constexpr char kHex[] = "0123456789abcdef";
  out += '"';
  for (size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    auto byte = static_cast<uint8_t>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (is_control(text, at)) {
      out += "\\x";
      out += kHex[byte >> 4];
      out += kHex[byte & 15];
    } else {
      out += c;
    }
  }
  out += '"';
}

std::string int_text(isa::Int value) {
  return value.is_slot() ? "s" + std::to_string(value.slot_index().value)
                         : std::to_string(value.immediate_value());
}

void append_base64(std::string& out, const uint8_t* bytes, uint64_t size, std::string_view indent) {
  for (uint64_t line = 0; line < size; line += kBytesPerLine) {
    out += indent;
    uint64_t end = std::min(size, line + kBytesPerLine);
    for (uint64_t i = line; i < end; i += 3)
      append_group(out, bytes + i, std::min<uint64_t>(3, end - i));
    out += '\n';
  }
}

size_t parse_base64(std::string_view text, std::vector<uint8_t>& out, size_t& bad_at) {
  uint32_t bits = 0;
  int digits = 0;  // digits in the current group of four
  int padding = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    bad_at = i;
    if (c == ' ' || c == '\n' || c == '\r' || c == '\t') continue;
    if (c == '}') return digits == 0 ? i : std::string_view::npos;
    int value = kDigitValues[static_cast<uint8_t>(c)];
    bool is_padding = c == '=' && digits >= 2;
    // A padded group is the last one.
    if ((value < 0 && !is_padding) || (padding > 0 && !is_padding)) return std::string_view::npos;
    if (is_padding) ++padding;
    bits = bits << 6 | static_cast<uint32_t>(is_padding ? 0 : value);
    if (++digits < 4) continue;
    for (int byte = 0; byte < 3 - padding; ++byte)
      out.push_back(static_cast<uint8_t>(bits >> (16 - 8 * byte)));
    bits = 0;
    digits = 0;
  }
  bad_at = text.size();
  return std::string_view::npos;
}

}  // namespace scopevm::format::assembly
