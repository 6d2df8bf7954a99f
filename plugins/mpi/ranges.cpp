// See ranges.h.
#include "plugins/mpi/ranges.h"

#include <algorithm>
#include <iterator>
#include <new>

namespace scopevm::mpi {

void FreeRanges::add(int64_t begin, int64_t bytes) noexcept {
  auto next = ranges_.lower_bound(begin);
  if (next != ranges_.end() && next->first == begin + bytes) {
    bytes += next->second;
    next = ranges_.erase(next);
  }
  if (next != ranges_.begin())
    if (const auto before = std::prev(next); before->first + before->second == begin) {
      before->second += bytes;
      return;
    }
  try {
    ranges_[begin] = bytes;
    // NOLINTNEXTLINE(bugprone-empty-catch): the addresses are lost, but no memory
  } catch (const std::bad_alloc&) {
  }
}

int64_t FreeRanges::take_next(int64_t bytes, int64_t alignment) {
  auto range = ranges_.upper_bound(next_);
  if (range != ranges_.begin()) --range;  // it can contain next_
  int64_t begin = take_from(range, next_, bytes, alignment, 0);
  if (begin < 0) begin = take(bytes, alignment);
  if (begin >= 0) next_ = begin + bytes;
  return begin;
}

int64_t FreeRanges::take_from(Range range, int64_t least, int64_t bytes, int64_t alignment,
                              int64_t base) {
  for (; range != ranges_.end(); ++range) {
    const int64_t first = range->first, end = first + range->second;
    const int64_t begin =
        (base + std::max(first, least) + alignment - 1) / alignment * alignment - base;
    if (begin > end - bytes) continue;
    if (end > begin + bytes) ranges_[begin + bytes] = end - begin - bytes;
    range->second = begin - first;
    if (begin == first) ranges_.erase(range);
    return begin;
  }
  return -1;
}

}  // namespace scopevm::mpi
