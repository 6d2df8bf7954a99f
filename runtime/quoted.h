// Names in messages and reports. They come from models and files, and must not control a terminal.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace scopevm::runtime {

// The bytes of the control character in UTF-8 at `at`; 0: it is another character. These are the
// control characters of ASCII, U+0080 to U+009F, the separators of lines and paragraphs, and the
// characters that change the direction of text.
constexpr size_t control_size(std::string_view text, size_t at) {
  const auto byte = [&](size_t i) {
    return at + i < text.size() ? static_cast<uint8_t>(text[at + i]) : uint8_t{0};
  };
  const auto is_between = [](uint8_t value, uint8_t first, uint8_t last) {
    return first <= value && value <= last;
  };
  if (byte(0) < ' ' || byte(0) == 0x7f) return 1;
  if (byte(0) == 0xc2 && is_between(byte(1), 0x80, 0x9f)) return 2;
  if (byte(0) == 0xd8 && byte(1) == 0x9c) return 2;  // U+061C
  if (byte(0) != 0xe2) return 0;
  // U+200E, U+200F, U+2028 to U+202E, U+2066 to U+2069.
  if (byte(1) == 0x80 && (is_between(byte(2), 0x8e, 0x8f) || is_between(byte(2), 0xa8, 0xae)))
    return 3;
  return byte(1) == 0x81 && is_between(byte(2), 0xa6, 0xa9) ? 3 : 0;
}

// The text with each byte of a control character as \xHH. Characters in `kept` are not replaced.
inline std::string escaped(std::string_view text, std::string_view kept = "") {
  constexpr char kHex[] = "0123456789abcdef";
  std::string result;
  for (size_t at = 0; at < text.size();) {
    size_t count = control_size(text, at);
    if (count == 0 || kept.find(text[at]) != std::string_view::npos) {
      result += text[at++];
      continue;
    }
    for (; count > 0; --count, ++at) {
      const auto byte = static_cast<uint8_t>(text[at]);
      result.append("\\x").append({kHex[byte >> 4], kHex[byte & 15]});
    }
  }
  return result;
}

// A name in a message: "conv_3", with quotes.
inline std::string quoted(std::string_view name) { return "\"" + escaped(name) + "\""; }

}  // namespace scopevm::runtime
