// The adapters of scopevm/memory_resource.h.
#include "scopevm/memory_resource.h"

#include <algorithm>
#include <new>
#include <utility>

namespace scopevm {
namespace {

// The size of the block that holds `bytes` bytes at any alignment, and the number of its bytes
// before them.
int64_t padded(size_t bytes, size_t alignment) {
  const size_t padding = alignment > kBlockAlignment ? alignment : 0;
  if (bytes > static_cast<size_t>(INT64_MAX) - padding) throw std::bad_alloc();
  return static_cast<int64_t>(bytes + padding);
}

class ResourceSource final : public BlockSource {
 public:
  explicit ResourceSource(std::pmr::memory_resource* resource) : resource_(resource) {}
  // A source is not given the alignment of a block that it deallocates. Page alignment serves all
  // allocators of scopevm.
  void* allocate(int64_t bytes, int64_t alignment) override {
    if (alignment > kAlignment) return nullptr;
    return resource_->allocate(static_cast<size_t>(std::max<int64_t>(bytes, 1)), kAlignment);
  }
  void deallocate(void* block, int64_t bytes) override {
    resource_->deallocate(block, static_cast<size_t>(std::max<int64_t>(bytes, 1)), kAlignment);
  }

 private:
  static constexpr int64_t kAlignment = 4096;
  std::pmr::memory_resource* const resource_;
};

}  // namespace

AllocatorResource::AllocatorResource(std::shared_ptr<Allocator> allocator)
    : allocator_(std::move(allocator)) {}

AllocatorResource::~AllocatorResource() = default;

// An alignment above that of the allocator: the address of the block is stored before the bytes.
void* AllocatorResource::do_allocate(size_t bytes, size_t alignment) {
  void* block = allocator_->allocate(padded(bytes, alignment));
  if (block == nullptr) throw std::bad_alloc();
  if (alignment <= kBlockAlignment) return block;
  char* const start = static_cast<char*>(block) + kBlockAlignment;
  const auto skipped = -reinterpret_cast<uintptr_t>(start) & (alignment - 1);
  char* const data = start + skipped;
  *reinterpret_cast<void**>(data - sizeof(void*)) = block;
  return data;
}

void AllocatorResource::do_deallocate(void* block, size_t bytes, size_t alignment) {
  const int64_t size = padded(bytes, alignment);
  if (alignment > kBlockAlignment)
    block = *reinterpret_cast<void**>(static_cast<char*>(block) - sizeof(void*));
  allocator_->deallocate(block, size);
}

bool AllocatorResource::do_is_equal(const std::pmr::memory_resource& other) const noexcept {
  const auto* resource = dynamic_cast<const AllocatorResource*>(&other);
  return resource != nullptr && resource->allocator_ == allocator_;
}

std::shared_ptr<BlockSource> make_source(std::pmr::memory_resource* resource) {
  return std::make_shared<ResourceSource>(resource);
}

}  // namespace scopevm
