// UTF-8 (RFC 3629).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace scopevm::runtime {

// Whether the number is a character: no surrogate, and at most 0x10ffff.
constexpr bool is_character(char32_t c) { return c <= 0x10ffff && (c < 0xd800 || c >= 0xe000); }

constexpr size_t utf8_bytes(char32_t c) {
  return c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
}

// Calls `put` with each byte of a character.
template <typename Put>
void encode_utf8(char32_t c, Put put) {
  const size_t more = utf8_bytes(c) - 1;
  constexpr char32_t kFirst[] = {0, 0xc0, 0xe0, 0xf0};
  put(static_cast<char>(kFirst[more] | c >> (6 * more)));
  for (size_t i = more; i-- > 0;) put(static_cast<char>(0x80 | (c >> (6 * i) & 0x3f)));
}

// The first character of a string and its encoded size. The size is 0 if the string does not start
// with a valid character.
struct Utf8Character {
  char32_t character = 0;
  size_t bytes = 0;
};

// REQUIRES: `text` is not empty.
inline Utf8Character decode_utf8(std::string_view text) {
  const auto first = static_cast<uint8_t>(text.front());
  if (first < 0x80) return {first, 1};
  const size_t bytes = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc0 || first >= 0xf8 || text.size() < bytes) return {};
  char32_t c = first & (0x7fU >> bytes);
  for (size_t i = 1; i < bytes; ++i) {
    const auto next = static_cast<uint8_t>(text[i]);
    if ((next & 0xc0) != 0x80) return {};
    c = c << 6 | (next & 0x3f);
  }
  // An encoding with more bytes than the character needs is invalid.
  if (utf8_bytes(c) != bytes || !is_character(c)) return {};
  return {c, bytes};
}

}  // namespace scopevm::runtime
