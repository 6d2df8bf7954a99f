// An allocator that zeroes its blocks; see zeroed_memory.h.
#include "tools/execution/zeroed_memory.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "runtime/memory/wrappers.h"

namespace scopevm::tool {
namespace {

class ZeroedPool final : public runtime::ForwardingAllocator {
 public:
  using ForwardingAllocator::ForwardingAllocator;

  void* allocate(int64_t bytes) override {
    void* const block = inner().allocate(bytes);
    if (block != nullptr) std::memset(block, 0, static_cast<size_t>(bytes));
    return block;
  }
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
