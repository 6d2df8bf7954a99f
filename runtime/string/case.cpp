// Decodes UTF-8 and converts case with towupper_l and towlower_l; see case.h.
#include "runtime/string/case.h"

#include <locale.h>
#include <wctype.h>

#include <cstdint>

namespace scopevm::runtime {
namespace {

locale_t unicode() {
  static const locale_t locale = newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
  return locale;
}

char32_t changed(char32_t c, bool to_upper) {
  if (c < 0x80) {
    if (to_upper) return c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c;
    return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c;
  }
  if (unicode() == nullptr) return c;
  const auto wide = static_cast<wint_t>(c);
  return static_cast<char32_t>(to_upper ? towupper_l(wide, unicode())
                                        : towlower_l(wide, unicode()));
}

// The first character of a string and its encoded size. The size is 0 if the string does not start
// with a valid UTF-8 character.
struct Decoded {
  char32_t character = 0;
  size_t bytes = 0;
};

Decoded decode(std::string_view text) {
  // kLeast[bytes] is the smallest character whose encoding needs `bytes` bytes.
  constexpr char32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  const auto first = static_cast<uint8_t>(text.front());
  if (first < 0x80) return {first, 1};
  const size_t bytes = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc0 || first >= 0xf8 || text.size() < bytes) return {};
  char32_t character = first & (0x7fU >> bytes);
  for (size_t i = 1; i < bytes; ++i) {
    const auto next = static_cast<uint8_t>(text[i]);
    if ((next & 0xc0) != 0x80) return {};
    character = character << 6 | (next & 0x3f);
  }
  const bool is_surrogate = character >= 0xd800 && character < 0xe000;
  // Overlong encodings and surrogates are invalid UTF-8 (RFC 3629).
  if (character < kLeast[bytes] || character > 0x10ffff || is_surrogate) return {};
  return {character, bytes};
}

char* put(char* to, char32_t c) {
  const auto byte = [&](char32_t bits) { *to++ = static_cast<char>(bits); };
  if (c < 0x80) return byte(c), to;
  if (c < 0x800) {
    byte(0xc0 | c >> 6);
  } else if (c < 0x10000) {
    byte(0xe0 | c >> 12);
    byte(0x80 | (c >> 6 & 0x3f));
  } else {
    byte(0xf0 | c >> 18);
    byte(0x80 | (c >> 12 & 0x3f));
    byte(0x80 | (c >> 6 & 0x3f));
  }
  byte(0x80 | (c & 0x3f));
  return to;
}

size_t bytes_of(char32_t c) { return c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4; }

}  // namespace

size_t change_case(std::string_view text, bool to_upper, char* to) {
  char* const begin = to;
  while (!text.empty()) {
    const Decoded decoded = decode(text);
    if (decoded.bytes == 0) {
      // An invalid byte is copied unchanged.
      *to++ = text.front();
      text.remove_prefix(1);
      continue;
    }
    const char32_t other = changed(decoded.character, to_upper);
    // case_room() reserves twice the size of the string: a character that would need more room is
    // copied unchanged.
    to = put(to, bytes_of(other) <= 2 * decoded.bytes ? other : decoded.character);
    text.remove_prefix(decoded.bytes);
  }
  return static_cast<size_t>(to - begin);
}

}  // namespace scopevm::runtime
