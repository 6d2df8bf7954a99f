#include "scopevm/allocators.h"
#include "runtime/memory/pool/pool_allocator.h"
namespace scopevm {
Result<std::shared_ptr<Allocator>> make_allocator_from_text(std::string_view, AllocatorOptions options) {
  return std::shared_ptr<Allocator>(std::make_shared<runtime::PoolAllocator>(std::move(options)));
}
}
