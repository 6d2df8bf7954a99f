// Implements the allocators of the C API (scopevm/scopevm.h).
#include <algorithm>
#include <cstring>
#include <new>
#include <string>
#include <utility>

#include "scopevm/scopevm.h"
#include "vm/api/c_support.h"

namespace scopevm {

Result<AllocatorOptions> allocator_options(const scopevm_allocator_options* given) {
  // Members that the caller's version of the struct lacks are zero.
  scopevm_allocator_options c{};
  if (given != nullptr) std::memcpy(&c, given, std::min(given->struct_size, sizeof c));
  AllocatorOptions options;
  if ((c.source_allocate == nullptr) != (c.source_deallocate == nullptr))
    return Status(StatusCode::kInvalidArgument,
                  "source_allocate and source_deallocate must both be set, or both be NULL");
  if (c.source_allocate != nullptr)
    options.source = make_source(
        [c](int64_t bytes, int64_t alignment) {
          return c.source_allocate(c.context, bytes, alignment);
        },
        [c](void* block, int64_t bytes) { c.source_deallocate(c.context, block, bytes); });
  if (c.on_exhausted != nullptr)
    options.on_exhausted = [c](int64_t bytes) { return c.on_exhausted(c.context, bytes) != 0; };
  SCOPEVM_RETURN_IF_ERROR(check_array(c.plan, c.plan_count, "the plan of an allocator"));
  for (size_t i = 0; i < c.plan_count; ++i)
    options.plan.push_back({c.plan[i].offset, c.plan[i].bytes});
  return options;
}

}  // namespace scopevm

using scopevm::checked;
using scopevm::Status;

scopevm_status* scopevm_allocator_create(const char* text, const scopevm_allocator_options* options,
                                         scopevm_allocator** out) {
  return checked({{text, "text"}, {out, "out"}}, [&]() -> Status {
    SCOPEVM_ASSIGN_OR_RETURN(scopevm::AllocatorOptions converted,
                             scopevm::allocator_options(options));
    SCOPEVM_ASSIGN_OR_RETURN(std::shared_ptr<scopevm::Allocator> allocator,
                             scopevm::make_allocator_from_text(text, std::move(converted)));
    *out = new scopevm_allocator{std::move(allocator)};
    return {};
  });
}

void scopevm_allocator_free(scopevm_allocator* allocator) { delete allocator; }

void* scopevm_allocator_allocate(scopevm_allocator* allocator, int64_t bytes) {
  return allocator == nullptr ? nullptr : allocator->allocator->allocate(bytes);
}

void scopevm_allocator_deallocate(scopevm_allocator* allocator, void* block, int64_t bytes) {
  if (allocator != nullptr && block != nullptr) allocator->allocator->deallocate(block, bytes);
}

scopevm_status* scopevm_allocator_read_stats(const scopevm_allocator* allocator,
                                             scopevm_allocator_stats* out) {
  return checked({{allocator, "allocator"}, {out, "out"}}, [&]() -> Status {
    const scopevm::AllocatorStats stats = allocator->allocator->stats();
    scopevm_allocator_stats c{out->struct_size,     stats.live_bytes,         stats.peak_bytes,
                              stats.cached_bytes,   stats.allocations,        stats.reserved_bytes,
                              stats.upstream_calls, stats.largest_free_bytes, stats.rounding_bytes};
    std::memcpy(out, &c, std::min(out->struct_size, sizeof c));
    return {};
  });
}

scopevm_status* scopevm_allocator_trim(scopevm_allocator* allocator) {
  return checked({{allocator, "allocator"}}, [&]() -> Status {
    allocator->allocator->trim();
    return {};
  });
}

scopevm_status* scopevm_allocator_describe_failure(const scopevm_allocator* allocator,
                                                   int64_t bytes) {
  return checked({{allocator, "allocator"}}, [&]() -> Status {
    std::string text = allocator->allocator->describe_failure(bytes);
    if (text.empty()) text = "the allocator is out of memory";
    return {scopevm::StatusCode::kOutOfMemory, std::move(text)};
  });
}
