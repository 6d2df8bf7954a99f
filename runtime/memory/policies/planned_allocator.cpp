// The plan and the bias of a PlannedAllocator; see planned_allocator.h.
#include "runtime/memory/policies/planned_allocator.h"

#include <algorithm>

#include "runtime/bytes_text.h"

namespace scopevm::runtime {
namespace {

int64_t height(const std::vector<PlannedBlock>& plan) {
  int64_t end = 0;
  for (const PlannedBlock& part : plan) end = std::max(end, part.offset + part.bytes);
  return end;
}

}  // namespace

thread_local constinit char PlannedAllocator::thread_token_ = 0;

PlannedAllocator::PlannedAllocator(std::shared_ptr<BlockSource> source,
                                   std::vector<PlannedBlock> plan, int64_t alignment)
    : source_(std::move(source)),
      plan_(std::move(plan)),
      alignment_(alignment),
      capacity_(height(plan_)) {}

PlannedAllocator::~PlannedAllocator() {
  if (block_ != nullptr) source_->deallocate(block_, capacity_);
}

// Makes the first thread the owner. When a second thread arrives, excludes the owner for good.
// REQUIRES: mutex_ is held.
void PlannedAllocator::revoke_bias() const {
  if (is_revoked_) return;
  const char* first = nullptr;
  if (owner_.compare_exchange_strong(first, &thread_token_) || first == &thread_token_) return;
  is_revoked_ = true;
  bias_.exclude();
  BiasedLock::fence();
  bias_.await();
}

void* PlannedAllocator::allocate_next(int64_t bytes) {
  if (next_ == plan_.size() || bytes < 0 || bytes > plan_[next_].bytes) return nullptr;
  if (block_ == nullptr) {
    ++counters_.upstream_calls;
    block_ = static_cast<char*>(allocate_without_exceptions(*source_, capacity_, alignment_));
    if (block_ == nullptr) return nullptr;
  }
  counters_.live_bytes += bytes;
  counters_.peak_bytes = std::max(counters_.peak_bytes, counters_.live_bytes);
  ++counters_.allocations;
  ++live_;
  return block_ + plan_[next_++].offset;
}

AllocatorStats PlannedAllocator::stats() const {
  return exclusively([&] {
    AllocatorStats stats = counters_;
    stats.reserved_bytes = block_ == nullptr ? 0 : capacity_;
    stats.cached_bytes = std::max<int64_t>(0, stats.reserved_bytes - stats.live_bytes);
    return stats;
  });
}

void PlannedAllocator::trim() {
  exclusively([&] {
    if (block_ == nullptr || live_ > 0) return;
    source_->deallocate(block_, capacity_);
    block_ = nullptr;
  });
}

std::string PlannedAllocator::describe_failure(int64_t bytes) const try {
  return exclusively([&] {
    if (next_ == plan_.size())
      return bytes_text(bytes) + " requested, the plan has " + std::to_string(plan_.size()) +
             " parts";
    const SizeUnit unit({bytes, plan_[next_].bytes});
    return unit.text(bytes) + " requested, part " + std::to_string(next_) + " of the plan has " +
           unit.text(plan_[next_].bytes);
  });
} catch (...) {
  return {};
}

}  // namespace scopevm::runtime
