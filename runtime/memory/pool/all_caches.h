// AllCaches: excludes the owners of a list of thread caches during its lifetime. REQUIRES: the lock
// of the pool is held.
#pragma once

#include "runtime/memory/pool/thread_cache.h"

namespace scopevm::runtime {

class AllCaches {
 public:
  explicit AllCaches(ThreadCache* first) : first_(first) {
    for (ThreadCache* cache = first_; cache != nullptr; cache = cache->next) cache->lock.exclude();
    if (first_ != nullptr) BiasedLock::fence();
    for (ThreadCache* cache = first_; cache != nullptr; cache = cache->next) cache->lock.await();
  }
  ~AllCaches() {
    for (ThreadCache* cache = first_; cache != nullptr; cache = cache->next) cache->lock.admit();
  }
  AllCaches(const AllCaches&) = delete;
  AllCaches& operator=(const AllCaches&) = delete;

 private:
  ThreadCache* const first_;
};

}  // namespace scopevm::runtime
