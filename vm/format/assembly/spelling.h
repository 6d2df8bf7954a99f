// Lexical elements of assembly, shared by printer and parser: quoted strings, unquoted names,
// base64.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "vm/isa/field_values.h"

namespace scopevm::format::assembly {

// An unquoted name: a letter or '_', then letters, digits, '_' and '.'.
constexpr bool is_name_start(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
constexpr bool is_name_part(char c) {
  return is_name_start(c) || (c >= '0' && c <= '9') || c == '.';
}
bool is_plain_name(std::string_view text);

// Appends a quoted string. '"', '\\' and bytes below 32 or equal to 127 are escaped: \", \\, \n and
// \xNN.
void append_quoted(std::string& out, std::string_view text);

// An immediate or a slot: "16", "s12".
std::string int_text(isa::Int value);

// Appends base64 in lines of 76 characters, each preceded by `indent`.
void append_base64(std::string& out, const uint8_t* bytes, uint64_t size, std::string_view indent);

// Decodes base64 up to '}', skipping white space, and appends the bytes to `out`. Returns the
// number of characters read. On an invalid character, an incomplete group or a missing '}', returns
// npos and sets `bad_at` to the position of the error.
size_t parse_base64(std::string_view text, std::vector<uint8_t>& out, size_t& bad_at);

}  // namespace scopevm::format::assembly
