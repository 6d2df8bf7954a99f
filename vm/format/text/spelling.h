// How the words of the text form are spelt, shared by printer and parser: quoted strings, plain
// names, base64.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace scopevm::format::text {

// A name that needs no quotes: a letter or '_', then letters, digits, '_' and '.'.
constexpr bool is_name_start(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
constexpr bool is_name_part(char c) {
  return is_name_start(c) || (c >= '0' && c <= '9') || c == '.';
}
bool is_plain_name(std::string_view text);

// "quoted": '"', '\\' and bytes below 32 or equal to 127 become \", \\, \n and \xNN.
void append_quoted(std::string& out, std::string_view text);

// Base64 in lines of 76 characters, each after `indent`.
void append_base64(std::string& out, const uint8_t* bytes, uint64_t size, std::string_view indent);

// Reads base64 up to '}', skipping white space. Returns how many characters of `text` it read, or
// npos if one does not belong there; `out` then holds what came before and `bad_at` says where.
size_t parse_base64(std::string_view text, std::vector<uint8_t>& out, size_t& bad_at);

}  // namespace scopevm::format::text
