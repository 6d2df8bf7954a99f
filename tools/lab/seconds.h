// The values of options that are seconds.
#pragma once

#include <charconv>
#include <string>

namespace scopevm::lab {

// Returns the message for an invalid limit of planning time.
inline std::string is_seconds(const std::string& text) {
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error == std::errc() && stop == end && value >= 0 && value <= 1e9) return "";
  return "\"" + text + "\": expected a number of seconds from 0 to 1e9";
}

}  // namespace scopevm::lab
