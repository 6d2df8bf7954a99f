// TracingAllocator: reports each call to a sink.
#pragma once

#include <cstdint>
#include <utility>

#include "runtime/memory/wrappers/forwarding_allocator.h"
#include "scopevm/allocators.h"

namespace scopevm::runtime {

class TracingAllocator final : public ForwardingAllocator {
 public:
  TracingAllocator(std::shared_ptr<Allocator> inner, AllocatorSink sink)
      : ForwardingAllocator(std::move(inner)), sink_(std::move(sink)) {}

  void* allocate(int64_t bytes) override {
    void* block = inner().allocate(bytes);
    sink_({block == nullptr ? Kind::kFailure : Kind::kAllocate, block, bytes});
    return block;
  }
  // The event precedes the deallocation: another thread cannot allocate the block before it.
  void deallocate(void* block, int64_t bytes) override {
    sink_({Kind::kDeallocate, block, bytes});
    inner().deallocate(block, bytes);
  }
  void trim() override {
    inner().trim();
    sink_({Kind::kTrim, nullptr, 0});
  }

 private:
  using Kind = AllocatorEvent::Kind;
  const AllocatorSink sink_;
};

}  // namespace scopevm::runtime
