// The functions of the C API for allocators (scopevm/c/allocator.h).
#include "runtime/c_api/c_allocator.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/c_api/c_arguments.h"
#include "runtime/memory/make_allocator.h"
#include "runtime/memory/sources/block_sources.h"

struct scopevm_memory_snapshot {
  scopevm::AllocatorSnapshot snapshot;
};

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
  std::string describe_failure(int64_t bytes) const override {
    if (functions_.describe_failure == nullptr) return {};
    std::array<char, 1024> text{};
    const size_t size =
        functions_.describe_failure(functions_.context, bytes, text.data(), text.size());
    return {text.data(), std::min(size, text.size() - 1)};
  }

 private:
  const scopevm_allocator_functions functions_;
};

// The embedder's functions for the memory of an allocator.
class CSource final : public BlockSource {
 public:
  CSource(const scopevm_allocator_options& functions,
          std::shared_ptr<ReadAllocatorOptions::Owner> owner)
      : allocate_(functions.source_allocate),
        deallocate_(functions.source_deallocate),
        context_(functions.context),
        owner_(std::move(owner)) {}
  void* allocate(int64_t bytes, int64_t alignment) override {
    return allocate_(context_, bytes, alignment);
  }
  void deallocate(void* block, int64_t bytes) override { deallocate_(context_, block, bytes); }

 private:
  decltype(scopevm_allocator_options::source_allocate) allocate_;
  decltype(scopevm_allocator_options::source_deallocate) deallocate_;
  void* context_;
  std::shared_ptr<ReadAllocatorOptions::Owner> owner_;
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

std::shared_ptr<Allocator> with_owner(std::shared_ptr<Allocator> allocator,
                                      std::shared_ptr<ReadAllocatorOptions::Owner> owner) {
  if (owner == nullptr) return allocator;
  Allocator* const address = allocator.get();
  return {address, [inner = std::move(allocator), owner = std::move(owner)](Allocator*) mutable {
            inner.reset();
            owner.reset();
          }};
}

Result<ReadAllocatorOptions> read_allocator_options(const scopevm_allocator_options* given) {
  SCOPEVM_ASSIGN_OR_RETURN(
      const scopevm_allocator_options c,
      read_options(given, SCOPEVM_SIZE_UP_TO(scopevm_allocator_options, plan_count),
                   "scopevm_allocator_options"));
  ReadAllocatorOptions out;
  if (given == nullptr) return out;
  if ((c.source_allocate == nullptr) != (c.source_deallocate == nullptr))
    return Status(StatusCode::kInvalidArgument,
                  "source_allocate and source_deallocate must both be set, or both be NULL");
  const auto owner = std::make_shared<ReadAllocatorOptions::Owner>(c);
  out.owner = owner;
  if (c.source_allocate != nullptr) out.options.source = std::make_shared<CSource>(c, owner);
  if (c.on_exhausted != nullptr)
    out.options.on_exhausted = [function = c.on_exhausted, context = c.context,
                                owner](int64_t bytes) { return function(context, bytes) != 0; };
  if (c.sink != nullptr)
    out.options.sink = [function = c.sink, context = c.context,
                        owner](const AllocatorEvent& event) {
      const scopevm_allocator_event made = {sizeof made, static_cast<int>(event.kind), event.block,
                                            event.bytes};
      function(context, &made);
    };
  SCOPEVM_RETURN_IF_ERROR(check_array(c.plan, c.plan_count, "the plan of an allocator"));
  for (size_t i = 0; i < c.plan_count; ++i)
    out.options.plan.push_back({c.plan[i].offset, c.plan[i].bytes});
  return out;
}

}  // namespace scopevm

using scopevm::checked;
using scopevm::Status;

const char* scopevm_allocator_name(size_t index) {
  try {
    const std::vector<std::string_view> names = scopevm::runtime::allocator_names();
    return index < names.size() ? names[index].data() : nullptr;  // literals
  } catch (...) {
    return nullptr;
  }
}

scopevm_status* scopevm_allocator_create(const char* text, const scopevm_allocator_options* options,
                                         scopevm_allocator** out) {
  return checked({{text, "text"}, {out, "out"}}, [&]() -> Status {
    SCOPEVM_ASSIGN_OR_RETURN(scopevm::ReadAllocatorOptions read,
                             scopevm::read_allocator_options(options));
    auto handle = std::make_unique<scopevm_allocator>();
    SCOPEVM_ASSIGN_OR_RETURN(
        std::shared_ptr<scopevm::Allocator> made,
        scopevm::runtime::make_allocator_from_text(text, std::move(read.options)));
    handle->allocator = scopevm::with_owner(std::move(made), read.owner);
    if (read.owner != nullptr) read.owner->accept();
    *out = handle.release();
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

scopevm_status* scopevm_allocator_copy(const scopevm_allocator* allocator,
                                       scopevm_allocator** out) {
  return checked({{allocator, "allocator"}, {out, "out"}}, [&]() -> Status {
    *out = new scopevm_allocator{allocator->allocator};
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
    if (text.empty()) return {};
    return {scopevm::StatusCode::kOutOfMemory, std::move(text)};
  });
}

scopevm_status* scopevm_memory_snapshot_create(const scopevm_allocator* allocator,
                                               scopevm_memory_snapshot** out) {
  return checked({{allocator, "allocator"}, {out, "out"}}, [&]() -> Status {
    SCOPEVM_ASSIGN_OR_RETURN(scopevm::AllocatorSnapshot snapshot, allocator->allocator->snapshot());
    *out = new scopevm_memory_snapshot{std::move(snapshot)};
    return {};
  });
}

void scopevm_memory_snapshot_free(scopevm_memory_snapshot* snapshot) { delete snapshot; }

namespace scopevm {
namespace {

// The ranges of C++ have the layout of those of C.
static_assert(sizeof(MemoryRange) == sizeof(scopevm_memory_range));
static_assert(offsetof(MemoryRange, bytes) == offsetof(scopevm_memory_range, bytes));

Status give_ranges(const std::vector<MemoryRange>& ranges, const scopevm_memory_range** out,
                   size_t* out_count) {
  *out = reinterpret_cast<const scopevm_memory_range*>(ranges.data());
  *out_count = ranges.size();
  return {};
}

}  // namespace
}  // namespace scopevm

scopevm_status* scopevm_memory_snapshot_live(const scopevm_memory_snapshot* snapshot,
                                             const scopevm_memory_range** out, size_t* out_count) {
  return checked({{snapshot, "snapshot"}, {out, "out"}, {out_count, "out_count"}},
                 [&] { return scopevm::give_ranges(snapshot->snapshot.live, out, out_count); });
}

scopevm_status* scopevm_memory_snapshot_unused(const scopevm_memory_snapshot* snapshot,
                                               const scopevm_memory_range** out,
                                               size_t* out_count) {
  return checked({{snapshot, "snapshot"}, {out, "out"}, {out_count, "out_count"}},
                 [&] { return scopevm::give_ranges(snapshot->snapshot.free, out, out_count); });
}

void* scopevm_block_source_allocate(scopevm_block_source* source, int64_t bytes,
                                    int64_t alignment) {
  if (source == nullptr) return nullptr;
  return scopevm::runtime::allocate_without_exceptions(*source->source, bytes, alignment);
}

void scopevm_block_source_deallocate(scopevm_block_source* source, void* block, int64_t bytes) {
  if (source != nullptr && block != nullptr) source->source->deallocate(block, bytes);
}

void scopevm_block_source_free(scopevm_block_source* source) { delete source; }
