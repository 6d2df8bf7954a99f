/// @file
/// Creates the allocators of scopevm by name (docs/allocators.md):
///
///     AllocatorOptions options;
///     options.limit_bytes = int64_t{1} << 30;
///     Result<std::shared_ptr<Allocator>> pool = make_allocator("pool", options);
///     Session::create(module, {.allocators = {{"global.workspace", *pool}}});
///
/// scopevm/memory_resource.h adapts allocators to std::pmr::memory_resource, and vice versa.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "scopevm/allocator.h"
#include "scopevm/status.h"

namespace scopevm {

/// Whether the system is advised to back memory with huge pages of 2 MiB.
enum class HugePages : uint8_t {
  kAutomatic,  ///< all memory but the first 4 MiB
  kNever,
  kAlways,
};

/// A storage with a planned offset.
struct PlannedBlock {
  int64_t offset = 0;  ///< in bytes, a multiple of the alignment
  int64_t bytes = 0;   ///< at least 0
};

/// What happened in an allocator, for tracing.
struct AllocatorEvent {
  /// The function that was called, or kFailure for a failed allocation.
  enum class Kind : uint8_t { kAllocate, kDeallocate, kFailure, kTrim };
  Kind kind = Kind::kAllocate;  ///< what happened
  const void* block = nullptr;  ///< null for kFailure and kTrim
  int64_t bytes = 0;            ///< the requested size; 0 for kTrim
};

/// Receives the events of an allocator, on the thread that calls the allocator. Must be thread-safe
/// and must not throw.
using AllocatorSink = std::function<void(const AllocatorEvent&)>;

/// The options of make_allocator(). An option that an allocator does not use must have its default.
struct AllocatorOptions {
  /// Of every block: a power of two from 64 to 2 MiB.
  int64_t alignment = kBlockAlignment;
  /// Maximum of the live bytes, exact to the byte; negative: none.
  int64_t limit_bytes = -1;
  /// Of "pool": the maximum of the memory that it takes from its source, in whole pages; negative:
  /// none. Of "stack": the size of its block.
  int64_t capacity_bytes = -1;
  /// Of "pool" with a source: the minimum size of a block of the source.
  int64_t chunk_bytes = int64_t{2} << 20;
  /// Of "stack": blocks of at least this size are allocated at the high end; negative: none.
  int64_t high_from_bytes = -1;
  HugePages huge_pages = HugePages::kAutomatic;  ///< of "pool" without a source
  bool thread_caches = true;                     ///< of "pool": keep free blocks per thread
  std::vector<PlannedBlock> plan;                ///< of "planned", in the order of allocation
  /// Where memory comes from. Null: the operating system. The memory is not accessed, except that
  /// of "heap".
  std::shared_ptr<BlockSource> source;
  /// Called when memory is exhausted or a limit is reached, after cached memory was returned. It
  /// can release memory. The allocation is tried again if it returns true. Must be thread-safe and
  /// must not throw. It can call the allocator.
  std::function<bool(int64_t bytes)> on_exhausted;
  AllocatorSink sink;  ///< receives an event per call; null: none
};

/// The names of make_allocator().
std::vector<std::string> allocator_names();

/// Creates an allocator. Names:
/// - "pool": size classes with caches per thread, for blocks of all sizes and lifetimes
/// - "arena": caches whole blocks, for a few large blocks
/// - "stack": one block, allocated from both ends, for blocks that are deallocated in reverse order
/// - "planned": one block, with the offsets of AllocatorOptions::plan
/// - "direct": passes each request to the source
/// Errors: kNotFound (no such name), kInvalidArgument (an option is invalid or not used by the
/// allocator), kOutOfMemory.
Result<std::shared_ptr<Allocator>> make_allocator(std::string_view name,
                                                  AllocatorOptions options = {});

/// Creates an allocator from its name and options as text: "pool",
/// "pool:limit=1GiB,huge-pages=never". Keys: alignment, limit, capacity, chunk, high-from (bytes,
/// with an optional unit K, M, G, KiB, MiB or GiB), huge-pages (auto, never, always),
/// thread-caches (on, off). `options` has the values of all other options. Errors: those of
/// make_allocator(), kInvalidArgument (unknown key or invalid value).
Result<std::shared_ptr<Allocator>> make_allocator_from_text(std::string_view text,
                                                            AllocatorOptions options = {});

/// A source of an embedder's functions. Each function can be called by several threads at once. An
/// exception of `allocate` counts as exhausted memory.
std::shared_ptr<BlockSource> make_source(
    std::function<void*(int64_t bytes, int64_t alignment)> allocate,
    std::function<void(void* block, int64_t bytes)> deallocate);

}  // namespace scopevm

#include "scopevm/layer/allocators.h"  // IWYU pragma: export
