// Ledger: the bytes of pools that several sessions share. A request reserves what it needs in all
// pools or in none, so that no two requests wait for each other.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "scopevm/status.h"

namespace scopevm::vm {

// The bytes of a request in a pool of the ledger.
struct Need {
  uint32_t pool = 0;
  int64_t bytes = 0;
  int64_t held = 0;   // of results that remain at the end of the request; at most `bytes`
  uint32_t user = 0;  // Ledger::add_user(), or 0
  int64_t own = 0;    // held by what the request keeps until its end, in addition
};

// Not thread-safe.
class Ledger {
 public:
  // The memory of a session in a pool. Its allocators can keep blocks that are not in use, so that
  // it can occupy the most bytes that were in use since these blocks were returned.
  struct User {
    int64_t used = 0;  // reserved or held
    int64_t peak = 0;  // of `used`, since trimmed()
  };
  struct Pool {
    std::string name;      // "cpu.global.workspace"
    int64_t capacity = 0;  // at least 0
    int64_t reserved = 0;  // of admitted requests
    int64_t held = 0;      // of results of finished requests that are not released
    std::vector<User> users = std::vector<User>(1);
    int64_t occupied = 0;  // the sum of the peaks of the users
    int64_t free() const { return capacity - reserved - held; }
  };

  explicit Ledger(std::vector<Pool> pools) : pools_(std::move(pools)) {}

  const std::vector<Pool>& pools() const { return pools_; }
  // The index of a pool; no value if the ledger does not limit it.
  std::optional<uint32_t> find(std::string_view name) const;

  // Returns the number of a new user of a pool, for Need::user.
  uint32_t add_user(uint32_t pool);
  // Whether the users of a pool can occupy more bytes than its capacity.
  bool can_exceed(uint32_t pool) const { return pools_[pool].occupied > pools_[pool].capacity; }
  // The users of a pool have returned the blocks that are not in use.
  void trimmed(uint32_t pool);

  // Checks that the needs fit in pools that only have what the request keeps. Otherwise no release
  // can make room. Errors: kResourceLimit.
  Status check_capacity(std::span<const Need> needs) const;
  // Reserves all needs and returns true, or reserves nothing.
  bool reserve(std::span<const Need> needs);
  // Ends a reservation: Need::held bytes remain.
  void end(std::span<const Need> needs);
  // Holds bytes without a reservation, until release(). REQUIRES: they are free.
  void hold(const Need& need) {
    pools_[need.pool].held += need.bytes;
    add(need, need.bytes);
  }
  // Bytes of hold() or of a result were released.
  void release(const Need& need) {
    pools_[need.pool].held -= need.bytes;
    add(need, -need.bytes);
  }

 private:
  // Changes the bytes that the user of a need uses.
  void add(const Need& need, int64_t bytes);

  std::vector<Pool> pools_;
};

}  // namespace scopevm::vm
