// Groups: a problem without views. Each buffer without a base is a group together with its views.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "scopevm/plan.h"

namespace scopevm::plan {

// A buffer and its views, which are placed as one. All its bytes are reserved while any of the
// buffers is live.
struct Group {
  int64_t size = 0;
  int64_t alignment = 1;            // of all buffers of the group
  std::optional<int64_t> offset;    // required offset, bytes
  std::vector<Lifespan> lifespans;  // the union over the buffers: ascending, disjoint
  std::vector<int> pools;           // candidates, by ascending cost; not empty
};

struct Groups {
  std::vector<Group> groups;
  std::vector<int> group_of;           // by buffer
  std::vector<int64_t> offset_within;  // by buffer, bytes from the group's offset
  int pool_count = 1;
};

// Checks the problem and groups its buffers. Errors: kInvalidArgument, with the id of a buffer.
Result<Groups> group_buffers(const Problem& problem);

// The product of two alignments does not overflow.
inline constexpr int64_t kMostAlignment = int64_t{1} << 40;

// Checks all parts of a problem that concern one buffer or pool.
Status check_buffers(const Problem& problem);
// Checks that no sum of bytes overflows.
Status check_sums(const Groups& groups);
// Checks that groups with required offsets do not overlap if each has one candidate, the same pool.
Status check_required_offsets(const Problem& problem, const Groups& groups);

// `buffer "id"`, or `buffer 3` if the id is empty.
std::string name_of(const Problem& problem, size_t buffer);

}  // namespace scopevm::plan
