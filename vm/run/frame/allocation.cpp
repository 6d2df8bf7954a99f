// Messages for failed allocations; see allocation.h.
#include "vm/run/frame/allocation.h"

#include <algorithm>
#include <string>

#include "runtime/bytes_text.h"

namespace scopevm::vm {
namespace {

constexpr char kRequested[] = " requested, ";

}  // namespace

Status allocation_failure(runtime::ScopeMemory::Outcome outcome, int64_t bytes,
                          runtime::ScopeMemory& memory) {
  const std::string of = memory.device() + " " + memory.scope() + ": ";
  std::string requested = runtime::bytes_text(bytes) + kRequested;
  if (outcome == runtime::ScopeMemory::Outcome::kNoRoom) {
    std::string state = memory.allocator().describe_failure(bytes);
    // The allocator's description begins with the request, in the unit of its other sizes.
    const size_t at = state.find(kRequested);
    if (at != std::string::npos && at < state.find(',')) {
      requested = state.substr(0, at) + kRequested;
      state.erase(0, requested.size());
    }
    return {StatusCode::kOutOfMemory, of + requested + "the allocator is out of memory" +
                                          (state.empty() ? "" : ": ") + state};
  }
  if (outcome == runtime::ScopeMemory::Outcome::kMisaligned)
    return {StatusCode::kInvalidArgument, of + requested +
                                              "the allocator's block is not aligned to " +
                                              std::to_string(memory.alignment()) + " bytes"};
  const int64_t free_bytes = std::max<int64_t>(0, memory.limit() - memory.stats().live_bytes);
  const runtime::SizeUnit unit({bytes, free_bytes, memory.limit()});
  return {StatusCode::kResourceLimit, of + unit.text(bytes) + kRequested + unit.text(free_bytes) +
                                          " free of a limit of " + unit.text(memory.limit())};
}

}  // namespace scopevm::vm
