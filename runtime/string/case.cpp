// Converts case with towupper_l and towlower_l; see case.h.
#include "runtime/string/case.h"

#include <locale.h>
#include <wctype.h>

#include "runtime/string/utf8.h"

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

}  // namespace

size_t change_case(std::string_view text, bool to_upper, char* to) {
  char* const begin = to;
  while (!text.empty()) {
    const Utf8Character decoded = decode_utf8(text);
    if (decoded.bytes == 0) {
      // An invalid byte is copied unchanged.
      *to++ = text.front();
      text.remove_prefix(1);
      continue;
    }
    const char32_t other = changed(decoded.character, to_upper);
    // case_room() reserves twice the size of the string: a character that would need more room is
    // copied unchanged.
    encode_utf8(utf8_bytes(other) <= 2 * decoded.bytes ? other : decoded.character,
                [&](char byte) { *to++ = byte; });
    text.remove_prefix(decoded.bytes);
  }
  return static_cast<size_t>(to - begin);
}

}  // namespace scopevm::runtime
