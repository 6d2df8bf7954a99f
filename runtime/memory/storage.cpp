// Creates storages of adopted bytes, and destroys storages: returns the bytes to their ScopeMemory,
// or calls on_release for adopted bytes.
#include "runtime/memory/storage.h"

#include <utility>

#include "runtime/memory/scope_memory.h"
#include "runtime/memory/sources/system_memory.h"

namespace scopevm::runtime {

Storage* Storage::adopt(void* data, int64_t bytes, std::function<void()> on_release) {
  auto* storage = new Storage;
  storage->data = data;
  storage->bytes = bytes;
  storage->on_release_ = std::move(on_release);
  return storage;
}

Storage* Storage::allocate(int64_t bytes) {
  std::unique_ptr<void, void (*)(void*)> data(system_allocate(bytes), system_deallocate);
  if (data == nullptr) return nullptr;
  Storage* storage = adopt(data.get(), bytes, [owned = data.get()] { system_deallocate(owned); });
  [[maybe_unused]] void* const released = data.release();  // now owned by the storage
  return storage;
}

void Storage::destroy() {
  if (scope_) {
    // The reference to the scope moves to a local variable, because reclaim() adds this object to
    // the scope's free list, and a free storage that references its scope would be a cycle. If the
    // local variable is the last reference to the scope, its destructor destroys the scope and the
    // free storages, including this one.
    std::shared_ptr<ScopeMemory> scope = std::move(scope_);
    scope->reclaim(this);
    return;
  }
  if (on_release_) on_release_();
  delete this;
}

}  // namespace scopevm::runtime
