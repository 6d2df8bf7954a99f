// An allocator that checks the live bytes of a pool.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

#include "scopevm/allocator.h"

namespace scopevm::test {

// Counts the live bytes of a pool, over all sessions.
class CountingAllocator final : public Allocator {
 public:
  CountingAllocator(std::shared_ptr<Allocator> inner, std::atomic<int64_t>& live, int64_t capacity)
      : inner_(std::move(inner)), live_(live), capacity_(capacity) {}
  void* allocate(int64_t bytes) override {
    EXPECT_LE(live_.fetch_add(bytes) + bytes, capacity_);
    return inner_->allocate(bytes);
  }
  void deallocate(void* block, int64_t bytes) override {
    live_.fetch_sub(bytes);
    inner_->deallocate(block, bytes);
  }
  AllocatorStats stats() const override { return inner_->stats(); }
  void trim() override { inner_->trim(); }

 private:
  const std::shared_ptr<Allocator> inner_;
  std::atomic<int64_t>& live_;
  const int64_t capacity_;
};

}  // namespace scopevm::test
