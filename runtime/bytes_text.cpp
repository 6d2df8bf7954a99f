// See bytes_text.h.
#include "runtime/bytes_text.h"

#include <iterator>

#include "runtime/count_text.h"

namespace scopevm::runtime {

std::string bytes_text(int64_t bytes) {
  constexpr const char* kUnits[] = {"KiB", "MiB", "GiB", "TiB"};
  // The largest unit of which `bytes` is a multiple of a half.
  int unit = 0;
  while (unit < static_cast<int>(std::size(kUnits)) && bytes >= int64_t{1024} << (10 * unit) &&
         bytes % (int64_t{512} << (10 * unit)) == 0)
    ++unit;
  if (unit == 0) return count_text(bytes, "byte");
  const int64_t halves = bytes / (int64_t{512} << (10 * (unit - 1)));
  return std::to_string(halves / 2) + (halves % 2 == 0 ? ".0 " : ".5 ") + kUnits[unit - 1];
}

}  // namespace scopevm::runtime
