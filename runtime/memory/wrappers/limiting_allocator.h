// LimitingAllocator: fails allocations that would exceed a maximum of live bytes, exactly.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "runtime/memory/counters.h"
#include "runtime/memory/wrappers/forwarding_allocator.h"

namespace scopevm::runtime {

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

}  // namespace scopevm::runtime
