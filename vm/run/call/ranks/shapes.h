// A request as numbers, which rank 0 sends to the others: its number in the trace, the shapes of
// its inputs, and the addresses of those in memory of another rank.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "scopevm/status.h"

namespace scopevm {
struct CallOptions;
}  // namespace scopevm

namespace scopevm::vm {

class Request;
class StateBlocks;

// The number in the trace of a request that is not traced.
inline constexpr uint64_t kNotTraced = 0;

// RankTask::kCall, the number in the trace, and the shapes.
std::vector<int64_t> numbers_of(const Request& request, const CallOptions& options);
// Gives the request inputs of these shapes in the memory of the other ranks, and those of this
// rank, which are states. Errors: kDevice (they are not the numbers of a request of the module).
Status set_shapes(std::span<const int64_t> numbers, const StateBlocks& states, Request& request);

}  // namespace scopevm::vm
