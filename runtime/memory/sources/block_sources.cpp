// Calls the operating system, drivers and embedders; see block_sources.h.
#include "runtime/memory/sources/block_sources.h"

#include "runtime/memory/sources/system_memory.h"
#include "scopevm/allocators.h"

namespace scopevm::runtime {

void* SystemSource::allocate(int64_t bytes, int64_t alignment) {
  return system_allocate(bytes, alignment);
}

void SystemSource::deallocate(void* block, int64_t /*bytes*/) { system_deallocate(block); }

void* DeviceSource::allocate(int64_t bytes, int64_t alignment) {
  switch (kind_) {
    case Kind::kDevice:
      return device_->allocate(bytes);
    case Kind::kPinned:
      return device_->allocate_host(bytes, alignment);
    case Kind::kShared:
      return device_->allocate_shared(bytes, alignment);
  }
  return nullptr;
}

void DeviceSource::deallocate(void* block, int64_t bytes) {
  switch (kind_) {
    case Kind::kDevice:
      return device_->deallocate(block, bytes);
    case Kind::kPinned:
      return device_->deallocate_host(block, bytes);
    case Kind::kShared:
      return device_->deallocate_shared(block, bytes);
  }
}

void* allocate_without_exceptions(BlockSource& source, int64_t bytes, int64_t alignment) noexcept
    try {
  return source.allocate(bytes, alignment);
} catch (...) {
  return nullptr;
}

namespace {

class FunctionSource final : public BlockSource {
 public:
  FunctionSource(std::function<void*(int64_t, int64_t)> allocate,
                 std::function<void(void*, int64_t)> deallocate)
      : allocate_(std::move(allocate)), deallocate_(std::move(deallocate)) {}
  void* allocate(int64_t bytes, int64_t alignment) override { return allocate_(bytes, alignment); }
  void deallocate(void* block, int64_t bytes) override { deallocate_(block, bytes); }

 private:
  const std::function<void*(int64_t, int64_t)> allocate_;
  const std::function<void(void*, int64_t)> deallocate_;
};

}  // namespace
}  // namespace scopevm::runtime

namespace scopevm {

std::shared_ptr<BlockSource> make_source(std::function<void*(int64_t, int64_t)> allocate,
                                         std::function<void(void*, int64_t)> deallocate) {
  return std::make_shared<runtime::FunctionSource>(std::move(allocate), std::move(deallocate));
}

}  // namespace scopevm
