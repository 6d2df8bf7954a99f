// Slabs and their bitmaps; see slabs.h.
#include "runtime/memory/pool/slabs.h"

#include <bit>

namespace scopevm::runtime {

// The fewest pages of at least 8 with at least 8 blocks and at most 1/16 of the slab unused.
Slabs::Shape Slabs::shape_of(int size_class) {
  struct Shapes {
    std::array<Shape, SizeClasses::kCount> of{};
    constexpr Shapes() {
      for (int c = 0; c < SizeClasses::kCount; ++c) {
        const int64_t bytes = SizeClasses::bytes_of(c);
        int64_t pages = kMinPages;
        while (pages * kPageBytes < 8 * bytes ||
               pages * kPageBytes % bytes > pages * kPageBytes / 16)
          ++pages;
        const int64_t units = bytes / kBlockAlignment;
        of[static_cast<size_t>(c)] = {
            static_cast<uint16_t>(pages), static_cast<uint16_t>(pages * kPageBytes / bytes),
            static_cast<uint64_t>(((int64_t{1} << 32) + units - 1) / units)};
      }
    }
  };
  static constexpr Shapes kShapes;
  return kShapes.of[static_cast<size_t>(size_class)];
}

int Slabs::allocate(int size_class, void** blocks, int count) {
  const int64_t bytes = SizeClasses::bytes_of(size_class);
  RunId& list = lists_[static_cast<size_t>(size_class)];
  int done = 0;
  while (done < count) {
    if (list == 0 && make_slab(size_class) == 0) break;
    Slab& slab = slabs_[list];
    for (size_t word = 0; word < slab.free_bits.size() && done < count; ++word)
      for (uint64_t& bits = slab.free_bits[word]; bits != 0 && done < count; bits &= bits - 1) {
        const auto index = static_cast<int64_t>(word) * 64 + std::countr_zero(bits);
        blocks[done++] = slab.base + index * bytes;
        --slab.free_blocks;
      }
    if (slab.free_blocks == 0) unlink(list);
  }
  allocated_[static_cast<size_t>(size_class)] += done;
  return done;
}

void Slabs::release(void* block) {
  const RunId id = pages_.run_of(block);
  Slab& slab = slabs_[id];
  const Shape shape = shape_of(slab.size_class);
  const auto unit = static_cast<uint64_t>(static_cast<char*>(block) - slab.base) / kBlockAlignment;
  // unit / units: exact, because unit is below 2^13 and units at most 2^9.
  const uint64_t index = unit * shape.inverse >> 32;
  slab.free_bits[index / 64] |= uint64_t{1} << (index % 64);
  ++slab.free_blocks;
  --allocated_[slab.size_class];
  if (!slab.is_listed)
    link(id);
  else if (slab.free_blocks == shape.blocks && (slab.next != 0 || slab.previous != 0))
    destroy(id);
}

void Slabs::trim() {
  for (size_t c = 0; c < lists_.size(); ++c)
    for (RunId id = lists_[c]; id != 0;) {
      const RunId next = slabs_[id].next;
      if (slabs_[id].free_blocks == shape_of(static_cast<int>(c)).blocks) destroy(id);
      id = next;
    }
}

// Returns a new slab, with free blocks only, or 0 if memory is exhausted.
RunId Slabs::make_slab(int size_class) {
  const Shape shape = shape_of(size_class);
  const RunId id = pages_.allocate(shape.pages);
  if (id == 0) return 0;
  slabs_[id] = {.base = static_cast<char*>(pages_.address(id)),
                .free_blocks = shape.blocks,
                .size_class = static_cast<uint8_t>(size_class)};
  for (size_t i = 0; i < shape.blocks; ++i) slabs_[id].free_bits[i / 64] |= uint64_t{1} << (i % 64);
  // release() finds the slab of a block by any page of the slab.
  pages_.set_run_of_pages(id);
  link(id);
  return id;
}

void Slabs::destroy(RunId id) {
  unlink(id);
  pages_.release(id);
}

void Slabs::link(RunId id) {
  RunId& list = lists_[slabs_[id].size_class];
  slabs_[id].is_listed = true;
  slabs_[id].previous = 0;
  slabs_[id].next = list;
  if (list != 0) slabs_[list].previous = id;
  list = id;
}

void Slabs::unlink(RunId id) {
  Slab& slab = slabs_[id];
  slab.is_listed = false;
  if (slab.next != 0) slabs_[slab.next].previous = slab.previous;
  if (slab.previous != 0)
    slabs_[slab.previous].next = slab.next;
  else
    lists_[slab.size_class] = slab.next;
  slab.next = slab.previous = 0;
}

}  // namespace scopevm::runtime
