// Parses sizes in options.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>

namespace scopevm::runtime {

inline constexpr char kSizeForms[] = "such as 65536, 64KiB, 2MiB or 1GiB";  // for messages

// "4096", "64K", "64KiB", "2M", "1GiB"; none if the text is not a size of at most 63 bits.
inline std::optional<int64_t> parse_size(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  std::string_view unit(end, static_cast<size_t>(text.data() + text.size() - end));
  if (unit.size() == 3 && unit.ends_with("iB")) unit = unit.substr(0, 1);
  const int shift = unit.empty() ? 0 : unit == "K" ? 10 : unit == "M" ? 20 : unit == "G" ? 30 : -1;
  if (error != std::errc() || shift < 0 || value < 0 || value > INT64_MAX >> shift)
    return std::nullopt;
  return value << shift;
}

}  // namespace scopevm::runtime
