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
  uint32_t& list = lists_[static_cast<size_t>(size_class)];
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
  const uint32_t number = pages_.heap().tag(pages_.space().page_of(block)).next;
  Slab& slab = slabs_[number];
  const Shape shape = shape_of(slab.size_class);
  const auto unit =
      static_cast<uint64_t>(static_cast<char*>(block) - slab.base) / kBlockAlignment;
  // unit / units: exact, because unit is below 2^13 and units at most 2^9.
  const uint64_t index = unit * shape.inverse >> 32;
  slab.free_bits[index / 64] |= uint64_t{1} << (index % 64);
  ++slab.free_blocks;
  --allocated_[slab.size_class];
  if (!slab.is_listed)
    link(number);
  else if (slab.free_blocks == shape.blocks && (slab.next != 0 || slab.previous != 0))
    destroy(number);
}

void Slabs::trim() {
  for (size_t c = 0; c < lists_.size(); ++c)
    for (uint32_t number = lists_[c]; number != 0;) {
      const uint32_t next = slabs_[number].next;
      if (slabs_[number].free_blocks == shape_of(static_cast<int>(c)).blocks) destroy(number);
      number = next;
    }
}

// Returns the number of a new slab with free blocks only, or 0 if memory is exhausted.
uint32_t Slabs::make_slab(int size_class) {
  const Shape shape = shape_of(size_class);
  const std::optional<Page> first = pages_.allocate(shape.pages);
  if (!first) return 0;
  slab_pages_ += shape.pages;
  uint32_t number = unused_;
  if (number != 0)
    unused_ = slabs_[number].next;
  else
    number = used_numbers_++;
  slabs_[number] = {.base = static_cast<char*>(pages_.space().address(*first)),
                    .first = *first,
                    .pages = shape.pages,
                    .free_blocks = shape.blocks,
                    .size_class = static_cast<uint8_t>(size_class)};
  for (size_t i = 0; i < shape.blocks; ++i)
    slabs_[number].free_bits[i / 64] |= uint64_t{1} << (i % 64);
  // Every page has the number of its slab, so that release() finds the slab of a block.
  for (Page page = *first; page < *first + shape.pages; ++page) {
    pages_.heap().tag(page).kind = PageHeap::Kind::kSlab;
    pages_.heap().tag(page).next = number;
  }
  link(number);
  return number;
}

void Slabs::destroy(uint32_t number) {
  Slab& slab = slabs_[number];
  unlink(number);
  pages_.release({slab.first, slab.pages});
  slab_pages_ -= slab.pages;
  slab.next = unused_;
  unused_ = number;
}

void Slabs::link(uint32_t number) {
  uint32_t& list = lists_[slabs_[number].size_class];
  slabs_[number].is_listed = true;
  slabs_[number].previous = 0;
  slabs_[number].next = list;
  if (list != 0) slabs_[list].previous = number;
  list = number;
}

void Slabs::unlink(uint32_t number) {
  Slab& slab = slabs_[number];
  slab.is_listed = false;
  if (slab.next != 0) slabs_[slab.next].previous = slab.previous;
  if (slab.previous != 0)
    slabs_[slab.previous].next = slab.next;
  else
    lists_[slab.size_class] = slab.next;
  slab.next = slab.previous = 0;
}

}  // namespace scopevm::runtime
