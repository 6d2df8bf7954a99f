// RetryingAllocator: trims the allocator after a failed allocation, then calls the embedder, and
// tries again each time. PoolAllocator does this itself.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>

#include "runtime/memory/wrappers/forwarding_allocator.h"

namespace scopevm::runtime {

class RetryingAllocator final : public ForwardingAllocator {
 public:
  RetryingAllocator(std::shared_ptr<Allocator> inner, std::function<bool(int64_t)> on_exhausted)
      : ForwardingAllocator(std::move(inner)), on_exhausted_(std::move(on_exhausted)) {}

  void* allocate(int64_t bytes) override {
    if (void* block = inner().allocate(bytes)) return block;
    if (bytes < 0) return nullptr;
    inner().trim();
    do {
      if (void* block = inner().allocate(bytes)) return block;
    } while (on_exhausted_(bytes));
    return nullptr;
  }

 private:
  const std::function<bool(int64_t)> on_exhausted_;
};

}  // namespace scopevm::runtime
