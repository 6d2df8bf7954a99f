/** @file
 * Schedulers of the C API: calls in flight within shared memory; see scopevm/scopevm.h and
 * scopevm/scheduler.h. */
#ifndef SCOPEVM_C_SCHEDULER_H_
#define SCOPEVM_C_SCHEDULER_H_

#include <stddef.h>
#include <stdint.h>

#include "scopevm/c/export.h"
#include "scopevm/c/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Runs the calls of several sessions on its workers, within the memory that they share. */
typedef struct scopevm_scheduler scopevm_scheduler;

/** The capacity of one pool: of a memory scope of one device. */
typedef struct scopevm_pool_capacity {
  const char* pool; /**< device and scope, as in the modules: "cpu.global.workspace" */
  int64_t bytes;    /**< at least 0 */
} scopevm_pool_capacity;

/** Initialise with {sizeof(scopevm_scheduler_options)}. */
typedef struct scopevm_scheduler_options {
  size_t struct_size; /**< sizeof(scopevm_scheduler_options) */
  int workers;        /**< threads that run calls, at most 4096; 0: one per CPU */
  /** The pools that the sessions share. A pool without an entry is not limited. */
  const scopevm_pool_capacity* capacities;
  size_t capacity_count; /**< number of elements of `capacities` */
  size_t capacity_size;  /**< sizeof(scopevm_pool_capacity) */
  size_t max_waiting;    /**< calls that can wait; 0: 1048576 */
  /** How often calls that fit can be admitted before one that does not fit yet; 0: 16; negative:
   * never. */
  int max_bypass;
  /** The waiting time, in nanoseconds, that counts as much as a priority higher by one; 0: a
   * second. */
  int64_t ageing_ns;
  /** Calls that wait for devices and calls of modules with devices that run, at once; 0: 1024. */
  size_t max_suspended;
  /** The numbers of the CPUs on which the workers and the threads of parallel loops run; none: all
   * CPUs of the process. */
  const int* cpus;
  size_t cpu_count; /**< number of elements of `cpus` */
  /** How long a worker without a call waits actively before it sleeps, in nanoseconds, at most a
   * second. */
  int64_t spin_ns;
  /** Nonzero: 0 is not the default of max_waiting, max_bypass, ageing_ns and max_suspended, but a
   * value as in SchedulerOptions (scopevm/scheduler.h), and a negative max_bypass is an error. */
  int has_no_defaults;
} scopevm_scheduler_options;

/** Writes the numbers of the CPUs of a NUMA node to `cpus`, at most `capacity`, and their number to
 * *count. Fails with SCOPEVM_NOT_FOUND if this machine has no such node. */
SCOPEVM_API scopevm_status* scopevm_numa_node_cpus(int node, int* cpus, size_t capacity,
                                                   size_t* count);

/** Starts the workers: Scheduler::create. `options` can be NULL. */
SCOPEVM_API scopevm_status* scopevm_scheduler_create(const scopevm_scheduler_options* options,
                                                     scopevm_scheduler** out);
/** Releases the handle. Sessions that use the scheduler keep it alive. */
SCOPEVM_API void scopevm_scheduler_free(scopevm_scheduler* scheduler);

/** The state of a scheduler: SchedulerStats in scopevm/scheduler.h. Set struct_size before the
 * call. */
typedef struct scopevm_scheduler_stats {
  size_t struct_size; /**< sizeof(scopevm_scheduler_stats) */
  size_t waiting;     /**< calls that wait for memory */
  size_t ready;       /**< admitted calls that wait for a worker */
  size_t running;     /**< calls that run */
  size_t pool_count;  /**< number of pools with a capacity */
} scopevm_scheduler_stats;

/** Sets the members of *out that fit out->struct_size. */
SCOPEVM_API scopevm_status* scopevm_scheduler_read_stats(const scopevm_scheduler* scheduler,
                                                         scopevm_scheduler_stats* out);

/** The use of one pool: PoolUse in scopevm/scheduler.h. Set struct_size before the call. */
typedef struct scopevm_pool_use {
  size_t struct_size;     /**< sizeof(scopevm_pool_use) */
  int64_t capacity_bytes; /**< its capacity */
  int64_t reserved_bytes; /**< of calls that were admitted and have not ended */
  int64_t held_bytes;     /**< of results of ended calls that are not released, and constants */
  const char* pool;       /**< its name; valid as long as the scheduler */
} scopevm_pool_use;

/** Reads the use of a pool. `index` is its index in scopevm_scheduler_options::capacities. Fails
 * with SCOPEVM_NOT_FOUND if there is no such pool. */
SCOPEVM_API scopevm_status* scopevm_scheduler_pool_use(const scopevm_scheduler* scheduler,
                                                       size_t index, scopevm_pool_use* out);

/** The state of a scheduler and the use of its pools at one time. Writes the first `capacity` pools
 * to `pools`, an array of elements of `pool_size` bytes: sizeof(scopevm_pool_use). */
SCOPEVM_API scopevm_status* scopevm_scheduler_read_pools(const scopevm_scheduler* scheduler,
                                                         scopevm_scheduler_stats* out,
                                                         scopevm_pool_use* pools, size_t capacity,
                                                         size_t pool_size);
/** The number of workers; 0 for NULL. */
SCOPEVM_API int scopevm_scheduler_workers(const scopevm_scheduler* scheduler);

#ifdef __cplusplus
}
#endif

#endif /* SCOPEVM_C_SCHEDULER_H_ */
