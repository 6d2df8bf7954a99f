// Size classes and the block cache of HeapAllocator; see heap_allocator.h.
#include "runtime/memory/heap_allocator.h"

#include <bit>

#include "runtime/memory/system_memory.h"

namespace scopevm::runtime {
namespace {

constexpr int64_t kUnit = kBlockAlignment;
constexpr int64_t kAlwaysRetained = int64_t{1} << 20;
// Larger requests fail. The limit also bounds the number of size classes.
constexpr int64_t kMaxBytes = int64_t{1} << 44;

// There are four size classes per power of two. For requests of more than four units, a block is
// less than a quarter larger than the request.
struct SizeClass {
  int index;
  int64_t bytes;
};

SizeClass size_class(int64_t bytes) {
  const uint64_t last = bytes <= kUnit ? 0 : static_cast<uint64_t>(bytes - 1) / kUnit;
  if (last < 4) return {static_cast<int>(last), static_cast<int64_t>(last + 1) * kUnit};
  // Keeps the three most significant bits of `last`, so `quarter` is in [4, 8). The indices
  // continue those of the first four classes, whose blocks have 1 to 4 units.
  const int shift = std::bit_width(last) - 3;
  const auto quarter = static_cast<int64_t>(last >> shift);
  return {shift * 4 + static_cast<int>(quarter), ((quarter + 1) << shift) * kUnit};
}

}  // namespace

HeapAllocator::~HeapAllocator() { trim(); }

int64_t HeapAllocator::retained_bytes() const {
  return std::max(kAlwaysRetained, recent_live_.value());
}

void* HeapAllocator::allocate(int64_t bytes) {
  if (bytes < 0 || bytes > kMaxBytes) return nullptr;
  const SizeClass wanted = size_class(bytes);
  {
    std::lock_guard lock(mutex_);
    // When note() returns true, a window of recent_live_ has ended and its maximum can have
    // decreased.
    if (recent_live_.note(counters_.live() + wanted.bytes)) shrink_to(retained_bytes());
    if (FreeBlock* block = free_[wanted.index]) {
      free_[wanted.index] = block->next;
      cached_bytes_ -= wanted.bytes;
      counters_.add(bytes);
      return block;
    }
  }
  void* block = system_allocate(wanted.bytes, alignment_);
  if (block == nullptr) {
    // The cached blocks of other size classes may hold the memory that this request needs: return
    // them to the system and try again.
    trim();
    block = system_allocate(wanted.bytes, alignment_);
  }
  if (block != nullptr) counters_.add(bytes);
  return block;
}

void HeapAllocator::deallocate(void* block, int64_t bytes) {
  const SizeClass given = size_class(bytes);
  counters_.subtract(bytes);
  {
    std::lock_guard lock(mutex_);
    if (cached_bytes_ + given.bytes <= retained_bytes()) {
      // The link is stored in the free block itself, which has at least kUnit bytes.
      auto* head = static_cast<FreeBlock*>(block);
      head->next = free_[given.index];
      free_[given.index] = head;
      cached_bytes_ += given.bytes;
      return;
    }
  }
  system_deallocate(block);
}

AllocatorStats HeapAllocator::stats() const {
  std::lock_guard lock(mutex_);
  return counters_.read(cached_bytes_);
}

void HeapAllocator::trim() {
  std::lock_guard lock(mutex_);
  shrink_to(0);
}

// Frees cached blocks until at most `bytes` bytes are cached. Frees the largest blocks first, so
// that few blocks are freed. REQUIRES: mutex_ is held.
void HeapAllocator::shrink_to(int64_t bytes) {
  for (int index = kClasses - 1; index >= 0 && cached_bytes_ > bytes; --index) {
    // The inverse of size_class().
    const int shift = index < 8 ? 0 : index / 4 - 1;
    const int64_t block_bytes = static_cast<int64_t>(index - shift * 4 + 1) * kUnit << shift;
    while (free_[index] != nullptr && cached_bytes_ > bytes) {
      FreeBlock* block = free_[index];
      free_[index] = block->next;
      cached_bytes_ -= block_bytes;
      system_deallocate(block);
    }
  }
}

}  // namespace scopevm::runtime
