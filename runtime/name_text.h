// Names in formulas and in options, such as those of dimensions. A name that is not an identifier
// is in quotes, with a backslash before each quote and backslash in it: n, "batch size".
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace scopevm::runtime {

// The length of the identifier at the start of the text: a letter, '_' or '$', followed by these,
// digits, dots and brackets. 0 if there is none.
constexpr size_t identifier_size(std::string_view text) {
  const auto is_letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$';
  };
  const auto continues = [&](char c) {
    return is_letter(c) || (c >= '0' && c <= '9') || c == '.' || c == '[' || c == ']';
  };
  if (text.empty() || !is_letter(text.front())) return 0;
  size_t size = 1;
  while (size < text.size() && continues(text[size])) ++size;
  return size;
}

inline std::string name_text(std::string_view name) {
  if (!name.empty() && identifier_size(name) == name.size()) return std::string(name);
  std::string text = "\"";
  for (const char c : name) {
    if (c == '"' || c == '\\') text += '\\';
    text += c;
  }
  return text + "\"";
}

// Removes the quoted name from the start of the text. No value if the text does not start with a
// quote, or if there is no closing quote.
inline std::optional<std::string> take_quoted_name(std::string_view& text) {
  if (text.empty() || text.front() != '"') return std::nullopt;
  std::string name;
  for (size_t at = 1; at < text.size(); ++at) {
    if (text[at] == '"') {
      text.remove_prefix(at + 1);
      return name;
    }
    if (text[at] == '\\' && at + 1 < text.size()) ++at;
    name += text[at];
  }
  return std::nullopt;
}

}  // namespace scopevm::runtime
