// Calls the operating system, drivers and embedders; see block_sources.h.
#include "runtime/memory/sources/block_sources.h"

#include "runtime/memory/sources/system_memory.h"

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

}  // namespace scopevm::runtime
