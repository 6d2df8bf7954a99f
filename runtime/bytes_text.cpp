// See bytes_text.h.
#include "runtime/bytes_text.h"

#include <cstddef>
#include <cstdio>
#include <iterator>

#include "runtime/count_text.h"

namespace scopevm::runtime {

std::string bytes_text(int64_t bytes) {
  constexpr const char* kUnits[] = {"KiB", "MiB", "GiB", "TiB"};
  if (bytes < 1024) return count_text(bytes, "byte");
  double value = static_cast<double>(bytes) / 1024;
  size_t unit = 0;
  while (value >= 1024 && unit + 1 < std::size(kUnits)) {
    value /= 1024;
    ++unit;
  }
  char text[32];
  std::snprintf(text, sizeof text, "%.1f %s", value, kUnits[unit]);
  return text;
}

}  // namespace scopevm::runtime
