/** @file
 * Allocators of the C API: those of scopevm by name, and those of the embedder; see
 * scopevm/scopevm.h and scopevm/allocators.h. */
#ifndef SCOPEVM_C_ALLOCATOR_H_
#define SCOPEVM_C_ALLOCATOR_H_

#include <stddef.h>
#include <stdint.h>

#include "scopevm/c/export.h"
#include "scopevm/c/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/** An allocator: of scopevm, or of the embedder. */
typedef struct scopevm_allocator scopevm_allocator;

/** A part of a memory plan: PlannedBlock in scopevm/allocators.h. */
typedef struct scopevm_planned_block {
  int64_t offset; /**< in bytes, a multiple of the alignment */
  int64_t bytes;  /**< at least 0 */
} scopevm_planned_block;

/** What happened in an allocator: AllocatorEvent in scopevm/allocators.h. */
typedef struct scopevm_allocator_event {
  size_t struct_size; /**< sizeof(scopevm_allocator_event) in the library */
  int kind;           /**< 0: allocate, 1: deallocate, 2: failure, 3: trim */
  const void* block;  /**< NULL for a failure and for trim */
  int64_t bytes;      /**< the requested size; 0 for trim */
} scopevm_allocator_event;

/** Functions of the embedder for an allocator, and its plan. Initialise with
 * {sizeof(scopevm_allocator_options)}. Each function can be called by several threads at once. */
typedef struct scopevm_allocator_options {
  size_t struct_size; /**< sizeof(scopevm_allocator_options) */
  void* context;      /**< first argument of the functions */
  /** The source of the memory, or NULL for the operating system: see BlockSource in
   * scopevm/allocator.h. source_deallocate is NULL if and only if source_allocate is. */
  void* (*source_allocate)(void* context, int64_t bytes, int64_t alignment);
  void (*source_deallocate)(void* context, void* block, int64_t bytes); /**< see above */
  /** AllocatorOptions::on_exhausted in scopevm/allocators.h: nonzero to try again. Can be NULL. */
  int (*on_exhausted)(void* context, int64_t bytes);
  /** Of "planned": the blocks in the order of allocation. Can be NULL if plan_count is 0. The array
   * is copied. */
  const scopevm_planned_block* plan;
  size_t plan_count; /**< number of elements of `plan` */
  /** Receives each event of the allocator: AllocatorOptions::sink. Can be NULL. */
  void (*sink)(void* context, const scopevm_allocator_event* event);
  /** Called once, when the allocators with these options have been destroyed. Can be NULL. If the
   * function with the options fails, it is not called. */
  void (*release)(void* context);
} scopevm_allocator_options;

/** AllocatorStats in scopevm/allocator.h. Initialise with {sizeof(scopevm_allocator_stats)}. */
typedef struct scopevm_allocator_stats {
  size_t struct_size;         /**< sizeof(scopevm_allocator_stats) */
  int64_t live_bytes;         /**< allocated and not yet deallocated */
  int64_t peak_bytes;         /**< maximum of live_bytes */
  int64_t cached_bytes;       /**< free blocks that are kept for reuse */
  int64_t allocations;        /**< successful allocations */
  int64_t reserved_bytes;     /**< memory taken from the source */
  int64_t upstream_calls;     /**< calls of the system or the source */
  int64_t largest_free_bytes; /**< the largest block that the cached memory can serve */
  int64_t rounding_bytes;     /**< sizes of live blocks minus live_bytes */
} scopevm_allocator_stats;

/** The name of an allocator, such as "pool"; NULL if there is no name with this index. */
SCOPEVM_API const char* scopevm_allocator_name(size_t index);

/** Creates an allocator from its name and options as text, such as "pool:limit=1GiB": see
 * make_allocator_from_text() in scopevm/allocators.h. `options` can be NULL. */
SCOPEVM_API scopevm_status* scopevm_allocator_create(const char* text,
                                                     const scopevm_allocator_options* options,
                                                     scopevm_allocator** out);

/** An allocator of the embedder: the methods of Allocator in scopevm/allocator.h. Each function can
 * be called by several threads at once. Initialise with {sizeof(scopevm_allocator_functions)}. */
typedef struct scopevm_allocator_functions {
  size_t struct_size; /**< sizeof(scopevm_allocator_functions) */
  void* context;      /**< first argument of the functions */
  /** A block of at least `bytes` bytes, aligned to 64 bytes and to the alignment of its pool, or
   * NULL when memory is exhausted. `bytes` can be 0. */
  void* (*allocate)(void* context, int64_t bytes);
  /** Takes back a block. `bytes` is the size with which it was allocated. */
  void (*deallocate)(void* context, void* block, int64_t bytes);
  /** Fills in the members of *out that the allocator measures; the others are 0. Can be NULL. */
  void (*stats)(void* context, scopevm_allocator_stats* out);
  void (*trim)(void* context); /**< returns cached memory to its source; can be NULL */
  /** Called once, when the last session and result that use the allocator, and its handle, have
   * been released. Can be NULL. */
  void (*release)(void* context);
  /** Writes the reason for which allocate(bytes) fails in the current state: one line, with a NUL,
   * in `capacity` bytes. Returns its size without the NUL, which can exceed the capacity: the text
   * is then cut. 0: unknown. Can be NULL. */
  size_t (*describe_failure)(void* context, int64_t bytes, char* text, size_t capacity);
} scopevm_allocator_functions;

/** Creates an allocator from functions. On failure, `release` is not called. */
SCOPEVM_API scopevm_status* scopevm_allocator_create_from(
    const scopevm_allocator_functions* functions, scopevm_allocator** out);

/** Another handle of an allocator, which the caller releases, too. */
SCOPEVM_API scopevm_status* scopevm_allocator_copy(const scopevm_allocator* allocator,
                                                   scopevm_allocator** out);
/** Releases the handle. Sessions that use the allocator keep it alive. */
SCOPEVM_API void scopevm_allocator_free(scopevm_allocator* allocator);
/** Allocates a block, aligned to 64 bytes or the allocator's alignment. NULL when memory is
 * exhausted, or if `allocator` is NULL. */
SCOPEVM_API void* scopevm_allocator_allocate(scopevm_allocator* allocator, int64_t bytes);
/** Deallocates a block. `bytes` is the size with which it was allocated. No effect if `allocator`
 * or `block` is NULL. */
SCOPEVM_API void scopevm_allocator_deallocate(scopevm_allocator* allocator, void* block,
                                              int64_t bytes);
/** Sets the members of *out that fit out->struct_size. */
SCOPEVM_API scopevm_status* scopevm_allocator_read_stats(const scopevm_allocator* allocator,
                                                         scopevm_allocator_stats* out);
/** Returns cached memory to its source. */
SCOPEVM_API scopevm_status* scopevm_allocator_trim(scopevm_allocator* allocator);
/** A status that describes why an allocation of `bytes` fails in the current state; NULL if the
 * allocator cannot describe it. */
SCOPEVM_API scopevm_status* scopevm_allocator_describe_failure(const scopevm_allocator* allocator,
                                                               int64_t bytes);

/** A range of memory, for tools. */
typedef struct scopevm_memory_range {
  const void* address; /**< of the first byte */
  int64_t bytes;       /**< its length */
} scopevm_memory_range;

/** The memory of an allocator at one time: AllocatorSnapshot in scopevm/allocator.h. */
typedef struct scopevm_memory_snapshot scopevm_memory_snapshot;

/** Lists the blocks of an allocator. Fails with SCOPEVM_UNSUPPORTED if it has no list of them. */
SCOPEVM_API scopevm_status* scopevm_memory_snapshot_create(const scopevm_allocator* allocator,
                                                           scopevm_memory_snapshot** out);
/** Releases a snapshot. */
SCOPEVM_API void scopevm_memory_snapshot_free(scopevm_memory_snapshot* snapshot);
/** @{
 * The allocated blocks, and the memory that the allocator can serve without its source, in
 * ascending order of addresses; *out_count is their number. Valid as long as the snapshot. */
SCOPEVM_API scopevm_status* scopevm_memory_snapshot_live(const scopevm_memory_snapshot* snapshot,
                                                         const scopevm_memory_range** out,
                                                         size_t* out_count);
SCOPEVM_API scopevm_status* scopevm_memory_snapshot_unused(const scopevm_memory_snapshot* snapshot,
                                                           const scopevm_memory_range** out,
                                                           size_t* out_count);
/** @} */

/** The memory from which the allocator of a pool takes its blocks: see scopevm_scope_allocator in
 * scopevm/c/session.h, and BlockSource in scopevm/allocator.h. */
typedef struct scopevm_block_source scopevm_block_source;

/** A block of at least `bytes` bytes, aligned to `alignment`, a power of two of at least 64. NULL
 * when memory is exhausted, or if `source` is NULL. The host cannot always access the block. */
SCOPEVM_API void* scopevm_block_source_allocate(scopevm_block_source* source, int64_t bytes,
                                                int64_t alignment);
/** Takes back a block. `bytes` is the size with which it was allocated. No effect if `source` is
 * NULL. */
SCOPEVM_API void scopevm_block_source_deallocate(scopevm_block_source* source, void* block,
                                                 int64_t bytes);
/** Releases the handle. REQUIRES: the blocks were deallocated. */
SCOPEVM_API void scopevm_block_source_free(scopevm_block_source* source);

#ifdef __cplusplus
}
#endif

#endif /* SCOPEVM_C_ALLOCATOR_H_ */
