// Slabs: allocates blocks of the size classes. A slab is a run of pages that is divided into blocks
// of one class. A bitmap, stored outside the slab, has the free blocks. The slabs of a class with
// free blocks are in a list; a slab without allocated blocks returns its pages, except one per
// class. Not thread-safe.
#pragma once

#include <array>
#include <cstdint>

#include "runtime/memory/pool/pages/page_allocator.h"
#include "runtime/memory/pool/pages/reserved_array.h"
#include "runtime/memory/pool/size_classes.h"

namespace scopevm::runtime {

class Slabs {
 public:
  explicit Slabs(PageAllocator& pages) : pages_(pages) {}
  // Must succeed before other methods are called.
  bool reserve() { return slabs_.reserve(pages_.heap().max_runs()); }

  // Allocates up to `count` blocks and returns their number: fewer if memory is exhausted.
  int allocate(int size_class, void** blocks, int count);
  void release(void* block);
  // Returns the pages of the slabs without allocated blocks.
  void trim();

  // The number of allocated blocks of a class, those in thread caches included.
  int64_t allocated(int size_class) const { return allocated_[static_cast<size_t>(size_class)]; }
  // Calls body(block, block_bytes, is_free) for each block of the slab in an allocated run.
  template <typename Body>
  void for_each_block(RunId run, Body body) const;

 private:
  static constexpr int kMaxBlocks = 512;
  static constexpr uint32_t kMinPages = 8;

  struct Slab {
    char* base;
    uint16_t free_blocks;
    uint8_t size_class;
    bool is_listed;
    RunId next;      // in the list of the class
    RunId previous;  // in the list of the class
    std::array<uint64_t, kMaxBlocks / 64> free_bits;
  };
  // The division of a slab of a class.
  struct Shape {
    uint16_t pages;
    uint16_t blocks;
    uint64_t inverse;  // ceil(2^32 / units), for a block of `units` times 64 bytes
  };
  static Shape shape_of(int size_class);

  RunId make_slab(int size_class);
  void destroy(RunId id);
  void link(RunId id);
  void unlink(RunId id);

  PageAllocator& pages_;
  ReservedArray<Slab> slabs_;  // by the run of the slab
  std::array<RunId, SizeClasses::kCount> lists_{};
  std::array<int64_t, SizeClasses::kCount> allocated_{};
};

template <typename Body>
void Slabs::for_each_block(RunId run, Body body) const {
  const Slab& slab = slabs_[run];
  const int64_t bytes = SizeClasses::bytes_of(slab.size_class);
  for (int i = 0; i < shape_of(slab.size_class).blocks; ++i)
    body(slab.base + i * bytes, bytes,
         (slab.free_bits[static_cast<size_t>(i) / 64] >> (i % 64) & 1) != 0);
}

}  // namespace scopevm::runtime
