// Allocators that pass calls to another allocator, and change one behaviour each.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "runtime/memory/counters.h"
#include "scopevm/allocator.h"
#include "scopevm/allocators.h"

namespace scopevm::runtime {

// Passes every call to another allocator. Base class of the wrappers.
class ForwardingAllocator : public Allocator {
 public:
  explicit ForwardingAllocator(std::shared_ptr<Allocator> inner) : inner_(std::move(inner)) {}
  void* allocate(int64_t bytes) override { return inner_->allocate(bytes); }
  void deallocate(void* block, int64_t bytes) override { inner_->deallocate(block, bytes); }
  AllocatorStats stats() const override { return inner_->stats(); }
  void trim() override { inner_->trim(); }
  std::string describe_failure(int64_t bytes) const override {
    return inner_->describe_failure(bytes);
  }
  Result<AllocatorSnapshot> snapshot() const override { return inner_->snapshot(); }

 protected:
  Allocator& inner() { return *inner_; }
  const Allocator& inner() const { return *inner_; }

 private:
  const std::shared_ptr<Allocator> inner_;
};

// Fails allocations that would exceed a maximum of live bytes, exactly.
class LimitingAllocator final : public ForwardingAllocator {
 public:
  // `limit`: bytes, at least 0.
  LimitingAllocator(std::shared_ptr<Allocator> inner, int64_t limit)
      : ForwardingAllocator(std::move(inner)), limit_(limit) {}

  void* allocate(int64_t bytes) override {
    if (bytes < 0) return nullptr;
    const std::optional<int64_t> live = counters_.reserve(bytes, limit_);
    if (!live) return nullptr;
    void* block = inner().allocate(bytes);
    if (block == nullptr)
      counters_.subtract(bytes);
    else
      counters_.commit(*live);
    return block;
  }
  void deallocate(void* block, int64_t bytes) override {
    inner().deallocate(block, bytes);
    counters_.subtract(bytes);
  }
  std::string describe_failure(int64_t bytes) const override {
    std::string text = inner().describe_failure(bytes);
    return text + (text.empty() ? "" : "; ") + "limit of " + std::to_string(limit_) + " bytes, " +
           std::to_string(counters_.live()) + " live";
  }

 private:
  const int64_t limit_;
  MemoryCounters counters_;
};

// Trims the allocator after a failed allocation, then calls the embedder, and tries again each
// time. PoolAllocator does this itself.
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

// Reports each call to a sink.
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
