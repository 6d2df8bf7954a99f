// Messages for failed allocations; see allocation.h.
#include "vm/run/frame/allocation.h"

#include <algorithm>
#include <string>

#include "runtime/bytes_text.h"

namespace scopevm::vm {

Status allocation_failure(runtime::ScopeMemory::Outcome outcome, int64_t bytes,
                          runtime::ScopeMemory& memory) {
  const std::string requested = runtime::bytes_text(bytes) + " requested, ";
  const std::string what = memory.device() + " " + memory.scope() + ": " + requested;
  if (outcome == runtime::ScopeMemory::Outcome::kNoRoom) {
    std::string state = memory.allocator().describe_failure(bytes);
    if (state.starts_with(requested)) state.erase(0, requested.size());
    return {StatusCode::kOutOfMemory,
            what + "the allocator is out of memory" + (state.empty() ? "" : ": ") + state};
  }
  if (outcome == runtime::ScopeMemory::Outcome::kMisaligned)
    return {StatusCode::kInvalidArgument, what + "the allocator's block is not aligned to " +
                                              std::to_string(memory.alignment()) + " bytes"};
  const int64_t free_bytes = std::max<int64_t>(0, memory.limit() - memory.stats().live_bytes);
  return {StatusCode::kResourceLimit, what + runtime::bytes_text(free_bytes) +
                                          " free of a limit of " +
                                          runtime::bytes_text(memory.limit())};
}

}  // namespace scopevm::vm
