// The memory accounts of a call, and the release of its storages and frames; see call_context.h.
#include "vm/run/call/call_context.h"

#include <algorithm>
#include <string>
#include <utility>

#include "runtime/count_text.h"
#include "vm/run/call/bound_session.h"
#include "vm/run/frame/allocation.h"
#include "vm/run/frame/list.h"

namespace scopevm::vm {

CallContext::~CallContext() { end(); }

void CallContext::begin(Request& of) {
  request = &of;
  std::ranges::fill(pools_, PoolAccount{});
  copies_.clear();
  emulated_seconds = 0;
  if (of.session->has_reserved()) enter_regions();
}

Status CallContext::over_budget(uint32_t pool, int64_t bytes,
                                const runtime::ScopeMemory& memory) const {
  const std::string name = memory.device() + "." + memory.scope();
  return {StatusCode::kResourceLimit,
          name + ": " + runtime::count_text(bytes, "byte") + " requested, with " +
              runtime::count_text(pools_[pool].live_bytes, "live byte") + ", of a budget of " +
              runtime::count_text(pools_[pool].budget, "byte"),
          {name, -1, "at most " + runtime::count_text(pools_[pool].budget, "byte"),
           runtime::count_text(pools_[pool].live_bytes + bytes, "byte")}};
}

// Charges either all stack allocations of a frame or none, because pop_frame() releases all of
// them.
Status CallContext::charge_stacks(const LoadedFunction& function) {
  const std::vector<FrameStorages::Use>& uses = function.stacks.uses;
  for (size_t i = 0; i < uses.size(); ++i) {
    runtime::ScopeMemory& memory = request->session->pool(uses[i].pool);
    if (memory.hold(uses[i].bytes)) {
      PoolAccount& account = pools_[uses[i].pool];
      account.live_bytes += uses[i].bytes;
      account.peak_bytes = std::max(account.peak_bytes, account.live_bytes);
      continue;
    }
    // Releases only the pools that were charged. pop_frame() would release all of them.
    release_stacks(std::span(uses).first(i));
    frames.pop();
    return allocation_failure(runtime::ScopeMemory::Outcome::kOverLimit, uses[i].bytes, memory)
        .with_context(function.decl->name);
  }
  return {};
}

void CallContext::release_stacks(std::span<const FrameStorages::Use> uses) {
  for (const FrameStorages::Use& use : uses) {
    request->session->pool(use.pool).release(use.bytes);
    pools_[use.pool].live_bytes -= use.bytes;
  }
}

// The recursion depth is bounded: the verifier limits the nesting of lists to kMaxListDepth.
void CallContext::release_elements(runtime::Storage* list) {
  const List elements(list);
  for (int64_t i = 0; i < elements.size(); ++i)
    if (runtime::Storage* storage = elements.element(i).storage)
      if (--storage->call_references == 0) release(storage);
}

// All storages of the call are in one linked list. Each is released once, so references from
// registers and list elements can be ignored.
void CallContext::end() {
  while (live_ != nullptr) unlink_and_release(live_);
  // A failed call leaves frames that no `ret` has popped.
  while (frames.depth() > 0) pop_frame();
  if (has_regions_) leave_regions();
  request = nullptr;
}

void CallContext::enter_regions() {
  has_regions_ = true;
  for (size_t i = 0; i < regions_.size(); ++i)
    regions_[i] = request->session->pool(static_cast<uint32_t>(i)).enter_region();
}

void CallContext::leave_regions() {
  has_regions_ = false;
  for (size_t i = 0; i < regions_.size(); ++i)
    if (runtime::Region* region = std::exchange(regions_[i], nullptr))
      request->session->pool(static_cast<uint32_t>(i)).leave_region(region);
}

}  // namespace scopevm::vm
