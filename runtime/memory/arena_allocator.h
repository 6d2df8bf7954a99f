// ArenaAllocator: one block per call in flight, kept for the next call and used again when it is
// large enough. For pools whose contents are planned: a call takes the whole block and gives it
// back as a whole.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "runtime/device/device.h"
#include "runtime/memory/counters.h"
#include "scopevm/allocator.h"

namespace scopevm::runtime {

class ArenaAllocator final : public Allocator {
 public:
  // Blocks of the host's memory, at multiples of `alignment`.
  explicit ArenaAllocator(int64_t alignment = kBlockAlignment) : alignment_(alignment) {}
  // Blocks of a device's memory, or of the host's that the device copies best: aligned as its
  // driver does.
  enum class From { kDevice, kHost };
  explicit ArenaAllocator(std::shared_ptr<Device> device, From from = From::kDevice)
      : device_(std::move(device)), from_(from) {}
  ~ArenaAllocator() override;
  void* allocate(int64_t bytes) override;
  void deallocate(void* block, int64_t bytes) override;
  AllocatorStats stats() const override;
  void trim() override;

 private:
  struct Block {
    void* data;
    int64_t capacity;
  };

  void* take_from_system(int64_t bytes);
  void give_to_system(const Block& block);

  // These REQUIRE mutex_.
  void* reuse(int64_t bytes);
  int64_t discard_largest();
  void discard_all();

  const int64_t alignment_ = kBlockAlignment;
  const std::shared_ptr<Device> device_;
  const From from_ = From::kHost;
  MemoryCounters counters_;
  mutable std::mutex mutex_;  // guards what follows
  std::vector<Block> cached_;
  std::vector<Block> in_use_;  // as many as calls in flight: searched one by one
  RecentPeak recent_request_;
};

}  // namespace scopevm::runtime
