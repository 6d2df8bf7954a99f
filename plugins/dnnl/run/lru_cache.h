// A cache with a bound: when it is full, the least recently used entry is removed.
#pragma once

#include <algorithm>
#include <cstddef>
#include <list>
#include <memory>
#include <mutex>
#include <utility>

namespace scopevm::onednn {

// Values are shared, so that an entry that is removed while it is in use stays valid. The search is
// linear: capacities are small. Thread-safety: all functions are thread-safe.
template <typename Key, typename Value>
class LruCache {
 public:
  explicit LruCache(size_t capacity) : capacity_(capacity) {}

  // Null if there is no entry. The entry becomes the most recently used one.
  std::shared_ptr<const Value> find(const Key& key) {
    const std::lock_guard lock(mutex_);
    return find_locked(key);
  }

  // Returns the value of the entry: `value`, or that of an entry that exists already.
  std::shared_ptr<const Value> insert(Key key, std::shared_ptr<const Value> value) {
    const std::lock_guard lock(mutex_);
    if (auto existing = find_locked(key)) return existing;
    entries_.emplace_front(std::move(key), value);
    if (entries_.size() > capacity_) entries_.pop_back();
    return value;
  }

  size_t size() const {
    const std::lock_guard lock(mutex_);
    return entries_.size();
  }

 private:
  std::shared_ptr<const Value> find_locked(const Key& key) {
    auto found = std::find_if(entries_.begin(), entries_.end(),
                              [&](const auto& entry) { return entry.first == key; });
    if (found == entries_.end()) return nullptr;
    entries_.splice(entries_.begin(), entries_, found);
    return found->second;
  }

  const size_t capacity_;
  mutable std::mutex mutex_;
  std::list<std::pair<Key, std::shared_ptr<const Value>>> entries_;  // most recently used first
};

}  // namespace scopevm::onednn
