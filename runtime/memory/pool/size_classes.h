// SizeClasses: the block sizes of slabs. Classes are multiples of 64 bytes up to 1 KiB. Above, each
// power of two has 8 classes, so that a block is at most 1/8 larger than the request.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "scopevm/allocator.h"

namespace scopevm::runtime {

class SizeClasses {
 public:
  static constexpr int kCount = 56;
  // Larger requests are runs of pages: above 8 pages, a run is at most 1/8 larger than the request.
  static constexpr int64_t kMaxBytes = 32768;

  // Every block of a class is a multiple of `alignment`, a power of two of at least 64.
  explicit SizeClasses(int64_t alignment) {
    int next = 0;
    for (int64_t units = 0; units <= kMaxBytes / kUnit; ++units) {
      while (bytes_of(next) < units * kUnit) ++next;
      int aligned = next;
      while (aligned + 1 < kCount && bytes_of(aligned) % alignment != 0) ++aligned;
      class_of_units_[static_cast<size_t>(units)] = static_cast<uint8_t>(aligned);
    }
  }

  // Compiles to a shift and a load. REQUIRES: 0 <= bytes <= kMaxBytes.
  int class_of(int64_t bytes) const {
    return class_of_units_[static_cast<size_t>(bytes + kUnit - 1) / kUnit];
  }

  static constexpr int64_t bytes_of(int size_class) {
    if (size_class < 16) return (size_class + 1) * kUnit;
    const int octave = (size_class - 16) / 8;
    return (int64_t{9} + (size_class - 16) % 8) << (octave + 7);
  }

 private:
  static constexpr int64_t kUnit = kBlockAlignment;
  std::array<uint8_t, kMaxBytes / kUnit + 1> class_of_units_{};
};
static_assert(SizeClasses::bytes_of(SizeClasses::kCount - 1) == SizeClasses::kMaxBytes);

}  // namespace scopevm::runtime
