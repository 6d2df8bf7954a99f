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
} scopevm_allocator_functions;

/** Creates an allocator from functions. On failure, `release` is not called. */
SCOPEVM_API scopevm_status* scopevm_allocator_create_from(
    const scopevm_allocator_functions* functions, scopevm_allocator** out);

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
/** A status that describes why an allocation of `bytes` fails in the current state. Never NULL. */
SCOPEVM_API scopevm_status* scopevm_allocator_describe_failure(const scopevm_allocator* allocator,
                                                               int64_t bytes);

#ifdef __cplusplus
}
#endif

#endif /* SCOPEVM_C_ALLOCATOR_H_ */
