// Addresses of values on other ranks. They are in no memory of this process: a tensor at such an
// address has dims, but no bytes here. The addresses contain the rank.
#pragma once

#include <cstdint>

#include "vm/format/schema/module_contents.h"

namespace scopevm::vm {

namespace remote {
// Above all addresses of a process, with 8 bits for the rank and 48 for the offset.
inline constexpr uint64_t kFirst = uint64_t{1} << 62;
inline constexpr int kRankShift = 48;
}  // namespace remote

// The address of byte `offset` of the rank's memory. REQUIRES: 0 <= rank < kMaxRanks.
inline void* remote_address(int rank, uint64_t offset = 0) {
  const uint64_t within = offset & ((uint64_t{1} << remote::kRankShift) - 1);
  // NOLINTNEXTLINE(performance-no-int-to-ptr): it is never dereferenced
  return reinterpret_cast<void*>(remote::kFirst |
                                 static_cast<uint64_t>(rank) << remote::kRankShift | within);
}

inline bool is_remote(const void* address) {
  return (reinterpret_cast<uint64_t>(address) & remote::kFirst) != 0;
}

// REQUIRES: is_remote(address).
inline int rank_of(const void* address) {
  return static_cast<int>(reinterpret_cast<uint64_t>(address) >> remote::kRankShift &
                          (format::kMaxRanks - 1));
}

}  // namespace scopevm::vm
