// Implements the allocators of the C API (scopevm/scopevm.h).
#include <memory>
#include <string>
#include <utility>

#include "scopevm/scopevm.h"
#include "vm/api/c_support.h"

namespace scopevm {

namespace {

// Adapts the embedder's functions to Allocator.
class CAllocator final : public Allocator {
 public:
  explicit CAllocator(const scopevm_allocator_functions& functions) : functions_(functions) {}
  ~CAllocator() override {
    if (functions_.release != nullptr) functions_.release(functions_.context);
  }
  void* allocate(int64_t bytes) override { return functions_.allocate(functions_.context, bytes); }
  void deallocate(void* block, int64_t bytes) override {
    functions_.deallocate(functions_.context, block, bytes);
  }
  AllocatorStats stats() const override {
    scopevm_allocator_stats c{};
    c.struct_size = sizeof c;
    if (functions_.stats != nullptr) functions_.stats(functions_.context, &c);
    return {c.live_bytes,     c.peak_bytes,     c.cached_bytes,       c.allocations,
            c.reserved_bytes, c.upstream_calls, c.largest_free_bytes, c.rounding_bytes};
  }
  void trim() override {
    if (functions_.trim != nullptr) functions_.trim(functions_.context);
  }

 private:
  const scopevm_allocator_functions functions_;
};

}  // namespace

scopevm_allocator_stats to_c(const AllocatorStats& stats) {
  return {0,
          stats.live_bytes,
          stats.peak_bytes,
          stats.cached_bytes,
          stats.allocations,
          stats.reserved_bytes,
          stats.upstream_calls,
          stats.largest_free_bytes,
          stats.rounding_bytes};
}

Result<AllocatorOptions> allocator_options(const scopevm_allocator_options* given) {
  SCOPEVM_ASSIGN_OR_RETURN(
      const scopevm_allocator_options c,
      read_options(given, SCOPEVM_SIZE_UP_TO(scopevm_allocator_options, plan_count),
                   "scopevm_allocator_options"));
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

scopevm_status* scopevm_allocator_create_from(const scopevm_allocator_functions* functions,
                                              scopevm_allocator** out) {
  return checked({{functions, "functions"}, {out, "out"}}, [&]() -> Status {
    SCOPEVM_ASSIGN_OR_RETURN(
        const scopevm_allocator_functions given,
        scopevm::read_options(functions, SCOPEVM_SIZE_UP_TO(scopevm_allocator_functions, release),
                              "scopevm_allocator_functions"));
    if (given.allocate == nullptr || given.deallocate == nullptr)
      return {scopevm::StatusCode::kInvalidArgument,
              "the functions allocate and deallocate of an allocator must be set"};
    auto handle = std::make_unique<scopevm_allocator>();
    handle->allocator = std::make_shared<scopevm::CAllocator>(given);
    *out = handle.release();
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
    SCOPEVM_RETURN_IF_ERROR(scopevm::check_size(
        out->struct_size, SCOPEVM_SIZE_UP_TO(scopevm_allocator_stats, rounding_bytes),
        "struct_size of *out"));
    scopevm::fill_struct(scopevm::to_c(allocator->allocator->stats()), out);
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
