/** @file
 * Sessions of the C API; see scopevm/scopevm.h and scopevm/session.h. */
#ifndef SCOPEVM_C_SESSION_H_
#define SCOPEVM_C_SESSION_H_

#include <stddef.h>
#include <stdint.h>

#include "scopevm/c/allocator.h"
#include "scopevm/c/export.h"
#include "scopevm/c/external.h"
#include "scopevm/c/module.h"
#include "scopevm/c/scheduler.h"
#include "scopevm/c/status.h"
#include "scopevm/c/transport.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A module bound to devices, allocators and threads. */
typedef struct scopevm_session scopevm_session;

/** An allocator for a memory scope: see ScopeAllocator in scopevm/session.h. */
typedef struct scopevm_scope_allocator {
  /** A scope of every CPU ("global.workspace") or of one device ("cpu.global.workspace"). */
  const char* scope;
  scopevm_allocator* allocator; /**< shared with the session */
  /** If `allocator` is NULL: called by scopevm_session_create() for each pool of the scope, also of
   * non-CPU devices: ScopeAllocator::make. Takes ownership of `source`, the memory of the pool;
   * NULL is the operating system. Sets *out to a handle that the session takes over, or returns a
   * status of scopevm_status_create(). */
  scopevm_status* (*make)(void* context, scopevm_block_source* source, int64_t alignment,
                          scopevm_allocator** out);
  void* make_context; /**< first argument of `make` */
} scopevm_scope_allocator;

/** An allocator by name. The session creates one for each pool of the scope, also of non-CPU
 * devices, whose drivers then supply the memory: see ScopeAllocator::make in scopevm/session.h. */
typedef struct scopevm_named_allocator {
  /** A scope of every device ("global.workspace") or of one device ("npu.global.workspace"). */
  const char* scope;
  const char* text; /**< name and options: see scopevm_allocator_create() */
  /** Without source functions. Can be NULL. */
  const scopevm_allocator_options* options;
} scopevm_named_allocator;

/** Limits the live bytes of a session in a memory scope. */
typedef struct scopevm_memory_limit {
  /** A scope of every device ("global.workspace") or of one device ("npu.global.workspace"). */
  const char* scope;
  int64_t bytes; /**< maximum of the live bytes */
} scopevm_memory_limit;

/** Binds a device of the module to a physical device: DeviceBinding in scopevm/session.h. */
typedef struct scopevm_device_binding {
  const char* device; /**< the device's name in the module */
  const char* kind;   /**< the device's kind in the module */
  int number;         /**< ordinal among this machine's devices of the kind */
} scopevm_device_binding;

/** Initialise with {sizeof(scopevm_session_options)}. Arrays can be NULL if they have no elements;
 * they are copied. */
typedef struct scopevm_session_options {
  size_t struct_size;                 /**< sizeof(scopevm_session_options) */
  int threads;                        /**< 0: 1 thread; negative: one per CPU */
  const scopevm_memory_limit* limits; /**< in addition to the limits in the module */
  size_t limit_count;                 /**< number of elements of `limits` */
  size_t limit_size;                  /**< sizeof(scopevm_memory_limit) */
  /** A parallel loop supplied by the embedder, or NULL for the default executor. The contract is
   * that of Executor::parallel_for in scopevm/executor.h. `executor` is passed as the first
   * argument; executor_threads is the number of workers. Returns NULL, or a status of
   * scopevm_status_create(), which ends the call. */
  scopevm_status* (*parallel_for)(void* executor, int64_t total, int64_t grain,
                                  void (*body)(void* context, int64_t begin, int64_t end,
                                               int64_t worker),
                                  void* context);
  void* executor;       /**< first argument of parallel_for */
  int executor_threads; /**< number of workers of parallel_for */
  int emulate;          /**< nonzero: sets SessionOptions::emulate */
  /** Nonzero: traces contain the times at which non-CPU devices executed launches and copies. */
  int time_devices;
  /** The libraries of external functions: see SessionOptions::external_libraries. The libraries
   * are not copied and must outlive the session and its calls. */
  const scopevm_external_library* const* external_libraries;
  size_t external_library_count;             /**< number of elements of `external_libraries` */
  const scopevm_scope_allocator* allocators; /**< shared with the session */
  size_t allocator_count;                    /**< number of elements of `allocators` */
  size_t allocator_size;                     /**< sizeof(scopevm_scope_allocator) */
  /** Allocators that the session creates. A scope has at most one allocator. */
  const scopevm_named_allocator* named_allocators;
  size_t named_allocator_count;          /**< number of elements of `named_allocators` */
  size_t named_allocator_size;           /**< sizeof(scopevm_named_allocator) */
  const scopevm_device_binding* devices; /**< devices without an entry have their default */
  size_t device_count;                   /**< number of elements of `devices` */
  size_t device_size;                    /**< sizeof(scopevm_device_binding) */
  /** If not NULL, called once for each pool, of all devices. Takes ownership of the handle
   * `allocator`, and returns the allocator that the pool uses: the same handle, or one that
   * forwards to it (scopevm_allocator_create_from()). The session takes ownership of the returned
   * handle. NULL fails the creation of the session. */
  scopevm_allocator* (*wrap_allocator)(void* context, const char* device, const char* scope,
                                       scopevm_allocator* allocator);
  void* wrap_context; /**< first argument of wrap_allocator */
  /** Runs the calls of the session; shared with the session. NULL: each call runs on the thread
   * that calls scopevm_call_run(). */
  const scopevm_scheduler* scheduler;
  /** The number of threads that run loops: Executor::running_threads. NULL: executor_threads. */
  int (*running_threads)(void* executor);
  /** Called once, when the session with the executor and its calls have been released. Can be NULL.
   * If scopevm_session_create() fails, it is not called. */
  void (*release_executor)(void* executor);
  /** The connection to the other processes of a job: see SessionOptions::transport in
   * scopevm/session.h. Not owned. Can be NULL. */
  const scopevm_transport* transport;
} scopevm_session_options;

/** Creates a session; see Session::create in scopevm/session.h. `options` can be NULL. */
SCOPEVM_API scopevm_status* scopevm_session_create(const scopevm_module* module,
                                                   const scopevm_session_options* options,
                                                   scopevm_session** out);
/** A handle of the session's module, which the caller releases. */
SCOPEVM_API scopevm_status* scopevm_session_module(const scopevm_session* session,
                                                   scopevm_module** out);
/** Allocates the memory of `calls` concurrent calls whose dimensions are in these ranges: see
 * Session::reserve in scopevm/session.h. A dimension that is not in `names` has its bounds in the
 * module. The arrays have `count` elements. */
SCOPEVM_API scopevm_status* scopevm_session_reserve(const scopevm_session* session,
                                                    const char* const* names, const int64_t* least,
                                                    const int64_t* most, size_t count, int calls);
/** The number of workers; 0 for NULL. */
SCOPEVM_API int scopevm_session_threads(const scopevm_session* session);
/** The number of threads that run parallel loops: see Executor::running_threads() in
 * scopevm/executor.h. 0 for NULL. */
SCOPEVM_API int scopevm_session_running_threads(const scopevm_session* session);
/** The counters of the pool of memory scope `index`, in the order of scopevm_module_scope_name():
 * of all calls and results of the session. Sets the members that fit out->struct_size. Fails with
 * SCOPEVM_NOT_FOUND if there is no such scope. */
SCOPEVM_API scopevm_status* scopevm_session_memory_stats(const scopevm_session* session,
                                                         size_t index,
                                                         scopevm_allocator_stats* out);
/** Returns cached memory to the operating system and the devices: Session::trim. No effect for
 * NULL. */
SCOPEVM_API void scopevm_session_trim(const scopevm_session* session);
/** Releases the handle. Calls and results of the session remain valid. */
SCOPEVM_API void scopevm_session_free(scopevm_session* session);

/** Loads a plug-in with external functions, by name ("dnnl") or path: ExternalLibrary in
 * scopevm/session.h. The library is valid until the process ends. */
SCOPEVM_API scopevm_status* scopevm_external_library_load(const char* name,
                                                          const scopevm_external_library** out);
/** Loads a plug-in with a transport, by name ("mpi") or path: Transport in scopevm/session.h. The
 * transport is valid until the process ends. */
SCOPEVM_API scopevm_status* scopevm_transport_load(const char* name, const scopevm_transport** out);

#ifdef __cplusplus
}
#endif

#endif /* SCOPEVM_C_SESSION_H_ */
