// Validates a plan by definition: compares every pair of buffers. Shares no code with the planner.
#include "compiler/memory/plan.h"

namespace scopevm::compiler::memory {

Status validate(const std::vector<PlannedBuffer>& buffers, int64_t height, int64_t alignment) {
  auto fail = [](const PlannedBuffer& buffer, const std::string& what) {
    return Status(StatusCode::kInternal, "memory plan: buffer " + std::to_string(buffer.id) + what);
  };
  for (const PlannedBuffer& a : buffers) {
    if (!a.offset) return fail(a, " has no offset");
    if (*a.offset < 0 || *a.offset % alignment != 0)
      return fail(a, " is at offset " + std::to_string(*a.offset));
    if (a.size < 0 || *a.offset > height - a.size)
      return fail(a, " ends above the plan's height " + std::to_string(height));
    for (const PlannedBuffer& b : buffers) {
      if (&a == &b || a.size == 0 || b.size == 0 || !b.offset) continue;
      bool share_time = a.lower < b.upper && b.lower < a.upper;
      bool share_bytes = *a.offset < *b.offset + b.size && *b.offset < *a.offset + a.size;
      if (share_time && share_bytes) return fail(a, " overlaps buffer " + std::to_string(b.id));
    }
  }
  return {};
}

}  // namespace scopevm::compiler::memory
