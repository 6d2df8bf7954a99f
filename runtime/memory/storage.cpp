// Destroys storages: returns the bytes to their scope, or calls on_release for adopted bytes.
#include "runtime/memory/storage.h"

#include <utility>

#include "runtime/memory/scope_memory.h"

namespace scopevm::runtime {

Storage* Storage::adopt(void* data, int64_t bytes, std::function<void()> on_release) {
  auto* storage = new Storage;
  storage->data = data;
  storage->bytes = bytes;
  storage->on_release_ = std::move(on_release);
  return storage;
}

void Storage::destroy() {
  if (scope_) {
    // Held by the local: reclaim() puts this object on the scope's spare list, where a reference to
    // the scope would be a cycle. If this is the last reference, the scope is destroyed with its
    // spares after reclaim().
    std::shared_ptr<ScopeMemory> scope = std::move(scope_);
    scope->reclaim(this);
    return;
  }
  if (on_release_) on_release_();
  delete this;
}

}  // namespace scopevm::runtime
