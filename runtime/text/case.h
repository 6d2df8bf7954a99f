// Upper and lower case of UTF-8 texts, a character at a time.
//
// ASCII always; other letters by the C library's tables for C.UTF-8, where the system has that
// locale. A letter whose other case is more than one character stays, and so do bytes that are no
// UTF-8.
#pragma once

#include <cstdint>
#include <string_view>

namespace scopevm::runtime {

// Room that change_case needs for a text of so many bytes.
constexpr int64_t case_room(size_t bytes) { return 2 * static_cast<int64_t>(bytes); }

// Writes the result to `to` and gives its size.
size_t change_case(std::string_view text, bool to_upper, char* to);

}  // namespace scopevm::runtime
