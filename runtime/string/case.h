// Case conversion of UTF-8 strings, by simple one-to-one mappings of characters.
//
// ASCII letters are always converted. Other letters are converted by the C library's tables for the
// C.UTF-8 locale, if the system has it. Letters whose other case is more than one character, and
// bytes that are not valid UTF-8, are copied unchanged.
#pragma once

#include <cstdint>
#include <string_view>

namespace scopevm::runtime {

// The buffer size, in bytes, that change_case() requires for a string of `bytes` bytes.
constexpr int64_t case_room(size_t bytes) { return 2 * static_cast<int64_t>(bytes); }

// Writes the converted string to `to` and returns its size in bytes.
// REQUIRES: `to` has case_room(text.size()) bytes.
size_t change_case(std::string_view text, bool to_upper, char* to);

}  // namespace scopevm::runtime
