// PlannedAllocator: one block whose parts have planned offsets. The Nth allocation returns the Nth
// part of the plan. When all parts are deallocated, the plan starts again.
//
// The thread of the first allocation needs no locked instruction: an allocation and a deallocation
// take less than 5 ns together (bench/memory). When another thread uses the allocator, all threads
// use a mutex from then on.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "runtime/memory/biased_lock.h"
#include "runtime/memory/sources/block_sources.h"
#include "scopevm/allocators.h"

namespace scopevm::runtime {

class PlannedAllocator final : public Allocator {
 private:
  // Runs `body` with exclusive access to the state.
  template <typename Body>
  [[gnu::always_inline]] auto exclusively(Body body) const {
    if (owner_.load(std::memory_order_relaxed) == &thread_token_ && bias_.try_enter()) [[likely]] {
      struct Leave {
        BiasedLock& lock;
        ~Leave() { lock.leave(); }
      } const leave{bias_};
      return body();
    }
    std::lock_guard lock(mutex_);
    revoke_bias();
    return body();
  }

 public:
  PlannedAllocator(std::shared_ptr<BlockSource> source, std::vector<PlannedBlock> plan,
                   int64_t alignment);
  ~PlannedAllocator() override;

  // Returns null after the last part of the plan, and if the next part is smaller than `bytes`.
  void* allocate(int64_t bytes) override {
    return exclusively([&] { return allocate_next(bytes); });
  }
  void deallocate(void* /*block*/, int64_t bytes) override {
    exclusively([&] {
      counters_.live_bytes -= bytes;
      if (--live_ == 0) next_ = 0;
    });
  }
  AllocatorStats stats() const override;
  // Returns the block to the source if nothing is allocated.
  void trim() override;
  std::string describe_failure(int64_t bytes) const override;

 private:
  void revoke_bias() const;
  void* allocate_next(int64_t bytes);

  [[gnu::tls_model("initial-exec")]] static thread_local constinit char thread_token_;

  const std::shared_ptr<BlockSource> source_;
  const std::vector<PlannedBlock> plan_;
  const int64_t alignment_;
  const int64_t capacity_;                           // the largest end of a part
  mutable std::atomic<const char*> owner_{nullptr};  // thread_token_ of the first thread
  mutable BiasedLock bias_;
  mutable std::mutex mutex_;
  mutable bool is_revoked_ = false;  // guarded by mutex_
  // Only accessed in exclusively().
  char* block_ = nullptr;
  size_t next_ = 0;   // in the plan
  int64_t live_ = 0;  // parts
  AllocatorStats counters_;
};

}  // namespace scopevm::runtime
