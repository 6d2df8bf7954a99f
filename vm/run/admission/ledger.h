// Ledger: the bytes of pools that several sessions share. A request reserves what it needs in all
// pools or in none, so that no two requests wait for each other.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace scopevm::vm {

// The bytes of a request in a pool of the ledger.
struct Need {
  uint32_t pool = 0;
  int64_t bytes = 0;
  int64_t held = 0;  // of results that remain at the end of the request; at most `bytes`
};

// Not thread-safe.
class Ledger {
 public:
  struct Pool {
    std::string name;      // "cpu.global.workspace"
    int64_t capacity = 0;  // at least 0
    int64_t reserved = 0;  // of admitted requests
    int64_t held = 0;      // of results of finished requests that are not released
    int64_t free() const { return capacity - reserved - held; }
  };

  explicit Ledger(std::vector<Pool> pools) : pools_(std::move(pools)) {}

  const std::vector<Pool>& pools() const { return pools_; }
  // The index of a pool; no value if the ledger does not limit it.
  std::optional<uint32_t> find(std::string_view name) const;

  // Whether the needs fit in empty pools. If not, no release can make room.
  bool can_fit(std::span<const Need> needs) const;
  // Reserves all needs and returns true, or reserves nothing.
  bool reserve(std::span<const Need> needs);
  // Ends a reservation: Need::held bytes remain.
  void end(std::span<const Need> needs);
  // Holds bytes without a reservation, until release(). REQUIRES: they are free.
  void hold(const Need& need) { pools_[need.pool].held += need.bytes; }
  // A result in this pool was released.
  void release(uint32_t pool, int64_t bytes) { pools_[pool].held -= bytes; }

 private:
  std::vector<Pool> pools_;
};

}  // namespace scopevm::vm
