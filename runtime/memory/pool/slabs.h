// Slabs: allocates blocks of the size classes. A slab is a run of pages that is divided into blocks
// of one class. A bitmap, stored outside the slab, has the free blocks. The slabs of a class with
// free blocks are in a list; a slab without allocated blocks returns its pages, except one per
// class. Not thread-safe.
#pragma once

#include <array>
#include <cstdint>

#include "runtime/memory/pool/page_allocator.h"
#include "runtime/memory/pool/reserved_array.h"
#include "runtime/memory/pool/size_classes.h"

namespace scopevm::runtime {

class Slabs {
 public:
  explicit Slabs(PageAllocator& pages) : pages_(pages) {}
  // Must succeed before other methods are called.
  bool reserve() { return slabs_.reserve(pages_.space().page_limit() / kMinPages + 1); }

  // Allocates up to `count` blocks and returns their number: fewer if memory is exhausted.
  int allocate(int size_class, void** blocks, int count);
  void release(void* block);
  // Returns the pages of the slabs without allocated blocks.
  void trim();

  // The number of allocated blocks of a class, those in thread caches included.
  int64_t allocated(int size_class) const { return allocated_[static_cast<size_t>(size_class)]; }
  int64_t slab_bytes() const { return slab_pages_ * kPageBytes; }
  // Calls body(block, block_bytes, is_free) for each block of the slab with first page `page`.
  // Returns the number of pages of the slab.
  template <typename Body>
  uint32_t for_each_block(Page page, Body body) const;

 private:
  static constexpr int kMaxBlocks = 512;
  static constexpr uint32_t kMinPages = 8;

  struct Slab {
    char* base;
    Page first;
    uint16_t pages;
    uint16_t free_blocks;
    uint8_t size_class;
    bool is_listed;
    uint32_t next;      // in the list of the class, or the next unused slab number
    uint32_t previous;  // in the list of the class
    std::array<uint64_t, kMaxBlocks / 64> free_bits;
  };
  // The division of a slab of a class.
  struct Shape {
    uint16_t pages;
    uint16_t blocks;
    uint64_t inverse;  // ceil(2^32 / units), for a block of `units` times 64 bytes
  };
  static Shape shape_of(int size_class);

  uint32_t make_slab(int size_class);
  void destroy(uint32_t number);
  void link(uint32_t number);
  void unlink(uint32_t number);

  PageAllocator& pages_;
  ReservedArray<Slab> slabs_;  // slab 0 is unused
  uint32_t unused_ = 0;        // list of unused numbers
  uint32_t used_numbers_ = 1;  // numbers from here on have never been used
  std::array<uint32_t, SizeClasses::kCount> lists_{};
  std::array<int64_t, SizeClasses::kCount> allocated_{};
  int64_t slab_pages_ = 0;
};

template <typename Body>
uint32_t Slabs::for_each_block(Page page, Body body) const {
  const Slab& slab = slabs_[pages_.heap().tag(page).next];
  const int64_t bytes = SizeClasses::bytes_of(slab.size_class);
  for (int i = 0; i < shape_of(slab.size_class).blocks; ++i)
    body(slab.base + i * bytes, bytes,
         (slab.free_bits[static_cast<size_t>(i) / 64] >> (i % 64) & 1) != 0);
  return slab.pages;
}

}  // namespace scopevm::runtime
