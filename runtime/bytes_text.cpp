// See bytes_text.h.
#include "runtime/bytes_text.h"

#include <algorithm>
#include <iterator>

#include "runtime/count_text.h"

namespace scopevm::runtime {
namespace {

constexpr const char* kUnits[] = {"KiB", "MiB", "GiB", "TiB"};

bool has_unit(int64_t bytes, int unit) {
  return bytes == 0 || (bytes >= int64_t{1024} << (10 * (unit - 1)) &&
                        bytes % (int64_t{512} << (10 * (unit - 1))) == 0);
}

}  // namespace

SizeUnit::SizeUnit(std::initializer_list<int64_t> sizes) {
  if (std::ranges::all_of(sizes, [](int64_t bytes) { return bytes == 0; })) return;
  while (unit_ < static_cast<int>(std::size(kUnits)) &&
         std::ranges::all_of(sizes, [&](int64_t bytes) { return has_unit(bytes, unit_ + 1); }))
    ++unit_;
}

std::string SizeUnit::text(int64_t bytes) const {
  if (unit_ == 0 || bytes == 0) return count_text(bytes, "byte");
  const int64_t halves = bytes / (int64_t{512} << (10 * (unit_ - 1)));
  return std::to_string(halves / 2) + (halves % 2 == 0 ? ".0 " : ".5 ") + kUnits[unit_ - 1];
}

std::string bytes_text(int64_t bytes) { return SizeUnit({bytes}).text(bytes); }

}  // namespace scopevm::runtime
