// ForwardingAllocator: passes every call to another allocator. Base class of the wrappers, each of
// which changes one behaviour.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "scopevm/allocator.h"

namespace scopevm::runtime {

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

}  // namespace scopevm::runtime
