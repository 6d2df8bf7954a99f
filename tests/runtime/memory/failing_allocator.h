// FailingAllocator: fails the Nth allocation, for out-of-memory tests.
#pragma once

#include <atomic>
#include <cstdint>

#include "runtime/memory/wrappers.h"

namespace scopevm::runtime {

class FailingAllocator final : public ForwardingAllocator {
 public:
  using ForwardingAllocator::ForwardingAllocator;

  // Makes only the `nth` allocation from now on fail; 1 is the next allocation. 0: none fails.
  void fail_at(int64_t nth) { countdown_ = nth; }
  // Whether fail_at() has made an allocation fail.
  bool has_failed() const { return has_failed_; }

  void* allocate(int64_t bytes) override {
    if (countdown_ > 0 && --countdown_ == 0) {
      has_failed_ = true;
      return nullptr;
    }
    return inner().allocate(bytes);
  }

 private:
  std::atomic<int64_t> countdown_{0};
  std::atomic<bool> has_failed_{false};
};

}  // namespace scopevm::runtime
