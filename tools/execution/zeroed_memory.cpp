// An allocator that zeroes its blocks; see zeroed_memory.h.
#include "tools/execution/zeroed_memory.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

namespace scopevm::tool {
namespace {

class ZeroedPool final : public Allocator {
 public:
  explicit ZeroedPool(std::shared_ptr<Allocator> allocator) : allocator_(std::move(allocator)) {}

  void* allocate(int64_t bytes) override {
    void* const block = allocator_->allocate(bytes);
    if (block != nullptr) std::memset(block, 0, static_cast<size_t>(bytes));
    return block;
  }
  void deallocate(void* block, int64_t bytes) override { allocator_->deallocate(block, bytes); }
  AllocatorStats stats() const override { return allocator_->stats(); }
  void trim() override { allocator_->trim(); }
  std::string describe_failure(int64_t bytes) const override {
    return allocator_->describe_failure(bytes);
  }
  Result<AllocatorSnapshot> snapshot() const override { return allocator_->snapshot(); }

 private:
  const std::shared_ptr<Allocator> allocator_;
};

}  // namespace

decltype(SessionOptions::wrap_allocator) zeroed_memory(const format::ModuleContents& module) {
  return [&module](std::string_view device, std::string_view,
                   std::shared_ptr<Allocator> allocator) -> std::shared_ptr<Allocator> {
    const auto found = std::ranges::find(module.devices, device, &format::DeviceDecl::name);
    if (found == module.devices.end() || !found->is_host()) return allocator;
    return std::make_shared<ZeroedPool>(std::move(allocator));
  };
}

}  // namespace scopevm::tool
