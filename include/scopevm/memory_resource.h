/// @file
/// Adapters between Allocator and std::pmr::memory_resource, for host memory:
///
///     AllocatorResource resource(*make_allocator("pool"));
///     std::pmr::vector<float> values(&resource);
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <memory_resource>
#include <new>
#include <utility>

#include "scopevm/allocator.h"

namespace scopevm {

/// A memory resource that allocates from an Allocator of host memory. Throws std::bad_alloc when
/// the allocator returns null. Thread-safe.
class AllocatorResource final : public std::pmr::memory_resource {
 public:
  /// REQUIRES: `allocator` is not null.
  explicit AllocatorResource(std::shared_ptr<Allocator> allocator)
      : allocator_(std::move(allocator)) {}

 private:
  // The size of the block that holds `bytes` bytes at any alignment, and the number of its bytes
  // before them.
  static int64_t padded(size_t bytes, size_t alignment) {
    const size_t padding = alignment > kBlockAlignment ? alignment : 0;
    if (bytes > static_cast<size_t>(INT64_MAX) - padding) throw std::bad_alloc();
    return static_cast<int64_t>(bytes + padding);
  }

  // An alignment above that of the allocator: the address of the block is stored before the bytes.
  void* do_allocate(size_t bytes, size_t alignment) override {
    void* block = allocator_->allocate(padded(bytes, alignment));
    if (block == nullptr) throw std::bad_alloc();
    if (alignment <= kBlockAlignment) return block;
    char* const start = static_cast<char*>(block) + kBlockAlignment;
    const auto skipped = -reinterpret_cast<uintptr_t>(start) & (alignment - 1);
    char* const data = start + skipped;
    *reinterpret_cast<void**>(data - sizeof(void*)) = block;
    return data;
  }

  void do_deallocate(void* block, size_t bytes, size_t alignment) override {
    const int64_t size = padded(bytes, alignment);
    if (alignment > kBlockAlignment)
      block = *reinterpret_cast<void**>(static_cast<char*>(block) - sizeof(void*));
    allocator_->deallocate(block, size);
  }

  bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override {
    const auto* resource = dynamic_cast<const AllocatorResource*>(&other);
    return resource != nullptr && resource->allocator_ == allocator_;
  }

  const std::shared_ptr<Allocator> allocator_;
};

/// A source whose blocks come from `resource`, which must be thread-safe and outlive the source.
/// For a session: make_allocator("direct", {.source = make_source(&resource)}).
inline std::shared_ptr<BlockSource> make_source(std::pmr::memory_resource* resource) {
  // A source is not given the alignment of a block that it deallocates. Page alignment serves all
  // allocators of scopevm.
  static constexpr int64_t kAlignment = 4096;
  class ResourceSource final : public BlockSource {
   public:
    explicit ResourceSource(std::pmr::memory_resource* of) : resource_(of) {}
    void* allocate(int64_t bytes, int64_t alignment) override {
      if (alignment > kAlignment) return nullptr;
      return resource_->allocate(static_cast<size_t>(std::max<int64_t>(bytes, 1)), kAlignment);
    }
    void deallocate(void* block, int64_t bytes) override {
      resource_->deallocate(block, static_cast<size_t>(std::max<int64_t>(bytes, 1)), kAlignment);
    }

   private:
    std::pmr::memory_resource* const resource_;
  };
  return std::make_shared<ResourceSource>(resource);
}

}  // namespace scopevm
