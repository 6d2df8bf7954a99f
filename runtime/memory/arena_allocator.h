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
  // Blocks of the host's memory, at multiples of `alignment`: the system's, or a device's that pins
  // them.
  explicit ArenaAllocator(int64_t alignment = kBlockAlignment,
                          std::shared_ptr<Device> pinned_by = nullptr)
      : device_(std::move(pinned_by)), host_alignment_(alignment) {}
  // Blocks of a device's memory, aligned as its driver does.
  explicit ArenaAllocator(std::shared_ptr<Device> device) : device_(std::move(device)) {}
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

  const std::shared_ptr<Device> device_;
  const int64_t host_alignment_ = 0;  // 0: not the host's memory
  MemoryCounters counters_;
  mutable std::mutex mutex_;  // guards what follows
  std::vector<Block> cached_;
  std::vector<Block> in_use_;  // as many as calls in flight: searched one by one
  RecentPeak recent_request_;
};

}  // namespace scopevm::runtime
