// Counts of things in messages.
#pragma once

#include <concepts>
#include <string>
#include <string_view>

namespace scopevm::runtime {

// "1 byte", "2 bytes": the count and the noun, whose plural ends in -s.
template <std::integral T>
std::string count_text(T count, std::string_view noun) {
  return std::to_string(count) + " " + std::string(noun) + (count == 1 ? "" : "s");
}

}  // namespace scopevm::runtime
