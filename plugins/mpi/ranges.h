// The free parts of a memory.
#pragma once

#include <cstdint>
#include <map>

namespace scopevm::mpi {

// Ranges of offsets. Not thread-safe.
class FreeRanges {
 public:
  // Adds a range of which no part is free. Without memory to record it, it is lost.
  void add(int64_t begin, int64_t bytes) noexcept;
  // Takes the first range of `bytes` that begins at a multiple of `alignment`, if offset 0 is at
  // `base`. Returns its offset, or -1 if there is none. Throws std::bad_alloc.
  int64_t take(int64_t bytes, int64_t alignment, int64_t base = 0) {
    return take_from(ranges_.begin(), 0, bytes, alignment, base);
  }
  // The same for base 0, but first of all after the range that was taken last.
  int64_t take_next(int64_t bytes, int64_t alignment);

 private:
  using Range = std::map<int64_t, int64_t>::iterator;
  // From `range` on, and from offset `least` on.
  int64_t take_from(Range range, int64_t least, int64_t bytes, int64_t alignment, int64_t base);

  std::map<int64_t, int64_t> ranges_;  // offset and size; no two are adjacent
  int64_t next_ = 0;
};

}  // namespace scopevm::mpi
