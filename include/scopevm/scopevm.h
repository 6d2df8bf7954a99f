/** @file
 * The C API: a thin, stable layer over the C++ API. Handles are opaque. New versions only add
 * functions, and members at the end of structs with a struct_size. Programs that load the library
 * with dlopen compare scopevm_api_version() with SCOPEVM_API_VERSION.
 *
 * Errors: a function that can fail returns NULL on success. Otherwise it returns a status, which
 * the caller releases with scopevm_status_free(). Out parameters are set on success only.
 *
 * NULL: a NULL handle, string or out parameter is an error, unless stated otherwise, and so is a
 * NULL array that has elements. The _free functions ignore NULL. The functions that return no
 * status return 0, NULL or -1 for a NULL handle.
 *
 * Ownership: the caller releases each handle with its _free function. A returned string is owned by
 * the object passed to the function. It is valid as long as that object, unless stated otherwise.
 *
 * Thread-safety: modules, sessions and allocators can be used by several threads concurrently. A
 * call must be used by one thread at a time. */
#ifndef SCOPEVM_SCOPEVM_H_
#define SCOPEVM_SCOPEVM_H_

#include <stddef.h>
#include <stdint.h>

#include "scopevm/dlpack.h"
#include "scopevm/export.h"
#include "scopevm/external.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The API version that this header describes. */
#define SCOPEVM_API_VERSION 6

/** An error: a status code and a message. */
typedef struct scopevm_status scopevm_status;
/** A loaded module. */
typedef struct scopevm_module scopevm_module;
/** A module bound to devices, allocators and threads. */
typedef struct scopevm_session scopevm_session;
/** One inference request. */
typedef struct scopevm_call scopevm_call;
/** An allocator of scopevm: see scopevm/allocators.h. */
typedef struct scopevm_allocator scopevm_allocator;

/** The API version that the loaded library implements. */
SCOPEVM_API int scopevm_api_version(void);

/** The status code, a StatusCode of scopevm/status.h; 0 if `status` is NULL. */
SCOPEVM_API int scopevm_status_code(const scopevm_status* status);
/** The message, NUL-terminated; empty if `status` is NULL. */
SCOPEVM_API const char* scopevm_status_message(const scopevm_status* status);
/** Releases a status. `status` can be NULL. */
SCOPEVM_API void scopevm_status_free(scopevm_status* status);

/** Maps, validates and verifies a module file. */
SCOPEVM_API scopevm_status* scopevm_module_load(const char* path, scopevm_module** out);
/** Loads a module from memory. The bytes are copied. */
SCOPEVM_API scopevm_status* scopevm_module_load_bytes(const void* bytes, size_t size,
                                                      scopevm_module** out);
/** Releases the handle. Sessions created from the module remain valid. */
SCOPEVM_API void scopevm_module_free(scopevm_module* module);

/** The number of inputs; 0 if `module` is NULL. */
SCOPEVM_API size_t scopevm_module_input_count(const scopevm_module* module);
/** The number of outputs; 0 if `module` is NULL. */
SCOPEVM_API size_t scopevm_module_output_count(const scopevm_module* module);
/** The name of an input; NULL if `index` is out of range or `module` is NULL. */
SCOPEVM_API const char* scopevm_module_input_name(const scopevm_module* module, size_t index);
/** Like scopevm_module_input_name(), for an output. */
SCOPEVM_API const char* scopevm_module_output_name(const scopevm_module* module, size_t index);

/** The kind of an input. 0: tensor, 1: sequence, 2: optional tensor, 3: optional sequence, -1:
 * `index` is out of range or `module` is NULL. */
SCOPEVM_API int scopevm_module_input_kind(const scopevm_module* module, size_t index);
/** Like scopevm_module_input_kind(), for an output. */
SCOPEVM_API int scopevm_module_output_kind(const scopevm_module* module, size_t index);

/** The bytes, results included, that a call allocates in memory scope `scope`, summed over all
 * devices: see Module::memory_bound in scopevm/module.h. 0 if no device has this scope. Dimension
 * names[i] has the value values[i] (`count` dimensions); the session has `threads` threads. */
SCOPEVM_API scopevm_status* scopevm_module_memory_bound(const scopevm_module* module,
                                                        const char* const* names,
                                                        const int64_t* values, size_t count,
                                                        int threads, const char* scope,
                                                        int64_t* out_bytes);

/** A part of a memory plan: PlannedBlock in scopevm/allocators.h. */
typedef struct {
  int64_t offset; /**< in bytes, a multiple of the alignment */
  int64_t bytes;  /**< at least 0 */
} scopevm_planned_block;

/** Functions of the embedder for an allocator, and its plan. Initialise with
 * {sizeof(scopevm_allocator_options)}. Each function can be called by several threads at once. */
typedef struct {
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
typedef struct {
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

/** An allocator for a memory scope of a CPU: see ScopeAllocator in scopevm/session.h. */
typedef struct {
  /** A scope of every CPU ("global.workspace") or of one device ("cpu.global.workspace"). */
  const char* scope;
  scopevm_allocator* allocator; /**< shared with the session */
} scopevm_scope_allocator;

/** An allocator by name. The session creates one for each pool of the scope, also of non-CPU
 * devices, whose drivers then supply the memory: see ScopeAllocator::make in scopevm/session.h. */
typedef struct {
  /** A scope of every device ("global.workspace") or of one device ("npu.global.workspace"). */
  const char* scope;
  const char* text; /**< name and options: see scopevm_allocator_create() */
  /** Without source functions. Can be NULL. */
  const scopevm_allocator_options* options;
} scopevm_named_allocator;

/** The largest scopevm_module_memory_bound() over all values of the dimensions that `names` does
 * not contain, within their bounds: see Module::largest_bound. No request needs more. */
SCOPEVM_API scopevm_status* scopevm_module_largest_bound(const scopevm_module* module,
                                                         const char* const* names,
                                                         const int64_t* values, size_t count,
                                                         int threads, const char* scope,
                                                         int64_t* out_bytes);

/** The number of memory scopes of the module's devices; 0 if `module` is NULL. */
SCOPEVM_API size_t scopevm_module_scope_count(const scopevm_module* module);
/** The name of the device of a memory scope; NULL if `index` is out of range or `module` is NULL.
 */
SCOPEVM_API const char* scopevm_module_scope_device(const scopevm_module* module, size_t index);
/** Like scopevm_module_scope_device(): the name of the scope, such as "global.workspace". */
SCOPEVM_API const char* scopevm_module_scope_name(const scopevm_module* module, size_t index);
/** The bytes of a call in each memory scope, by native code: see Module::bound. `dims`: `dim_count`
 * values, of all dimensions in the order of the model. `out_bytes`: `scope_count` elements. */
SCOPEVM_API scopevm_status* scopevm_module_bound(const scopevm_module* module, const int64_t* dims,
                                                 size_t dim_count, int threads, int64_t* out_bytes,
                                                 size_t scope_count);

/** Limits the live bytes of a session in a memory scope. */
typedef struct {
  /** A scope of every device ("global.workspace") or of one device ("npu.global.workspace"). */
  const char* scope;
  int64_t bytes; /**< maximum of the live bytes */
} scopevm_memory_limit;

/** Initialise with {sizeof(scopevm_session_options)}. struct_size is the size that the caller was
 * compiled with; later versions add members at the end. */
typedef struct {
  size_t struct_size;                 /**< sizeof(scopevm_session_options) */
  int threads;                        /**< 0: 1 thread; negative: one per core */
  const scopevm_memory_limit* limits; /**< can be NULL if limit_count is 0 */
  size_t limit_count;                 /**< number of elements of `limits` */
  /** A parallel loop supplied by the embedder, or NULL for the default executor. The contract is
   * that of Executor::parallel_for in scopevm/executor.h. `executor` is passed as the first
   * argument; executor_threads is the number of workers. */
  void (*parallel_for)(void* executor, int64_t total, int64_t grain,
                       void (*body)(void* context, int64_t begin, int64_t end, int64_t worker),
                       void* context);
  void* executor;       /**< first argument of parallel_for */
  int executor_threads; /**< number of workers of parallel_for */
  int emulate;          /**< nonzero: sets SessionOptions::emulate */
  /** The libraries of external functions: see SessionOptions::external_libraries. Can be NULL if
   * external_library_count is 0. The array is copied, the libraries are not. */
  const scopevm_external_library* const* external_libraries;
  size_t external_library_count;             /**< number of elements of `external_libraries` */
  const scopevm_scope_allocator* allocators; /**< can be NULL if allocator_count is 0 */
  size_t allocator_count;                    /**< number of elements of `allocators` */
  /** Can be NULL if named_allocator_count is 0. A scope has at most one allocator. */
  const scopevm_named_allocator* named_allocators;
  size_t named_allocator_count; /**< number of elements of `named_allocators` */
} scopevm_session_options;

/** Creates a session; see Session::create in scopevm/session.h. `options` can be NULL. */
SCOPEVM_API scopevm_status* scopevm_session_create(const scopevm_module* module,
                                                   const scopevm_session_options* options,
                                                   scopevm_session** out);
/** Allocates the memory of `calls` concurrent calls whose dimensions are in these ranges: see
 * Session::reserve in scopevm/session.h. A dimension that is not in `names` has its bounds in the
 * module. The arrays have `count` elements. */
SCOPEVM_API scopevm_status* scopevm_session_reserve(const scopevm_session* session,
                                                    const char* const* names, const int64_t* least,
                                                    const int64_t* most, size_t count, int calls);
/** The number of threads that run parallel loops: see Executor::running_threads() in
 * scopevm/executor.h. 0 for NULL. */
SCOPEVM_API int scopevm_session_running_threads(const scopevm_session* session);
/** Releases the handle. Calls and results of the session remain valid. */
SCOPEVM_API void scopevm_session_free(scopevm_session* session);

/** Creates a call. It keeps the session alive. */
SCOPEVM_API scopevm_status* scopevm_call_create(const scopevm_session* session, scopevm_call** out);
/** Releases the call. Tensors from scopevm_call_output() remain valid. */
SCOPEVM_API void scopevm_call_free(scopevm_call* call);

/** Sets an input that is a tensor, or an optional tensor with a value; a NULL `tensor` unsets it.
 * The call borrows the tensor's bytes until the input is replaced or the call is freed, and never
 * writes them. The DLTensor struct is copied. */
SCOPEVM_API scopevm_status* scopevm_call_set_input(scopevm_call* call, const char* name,
                                                   const DLTensor* tensor);
/** Sets an input that is a sequence or an optional sequence; `tensors` has `count` elements. The
 * call borrows the bytes of the elements like scopevm_call_set_input(). */
SCOPEVM_API scopevm_status* scopevm_call_set_sequence(scopevm_call* call, const char* name,
                                                      const DLTensor* const* tensors, size_t count);
/** A string tensor. `strings` has one string per element, in row-major order. `sizes` has the size
 * of each string in bytes. It is NULL if the strings are NUL-terminated. */
typedef struct {
  const char* const* strings; /**< one per element */
  const size_t* sizes;        /**< in bytes, or NULL */
  const int64_t* dims;        /**< `rank` dims */
  size_t rank;                /**< number of dims */
} scopevm_strings;

/** Sets an input that is a string tensor. The strings are copied. */
SCOPEVM_API scopevm_status* scopevm_call_set_input_strings(scopevm_call* call, const char* name,
                                                           const scopevm_strings* strings);
/** Sets an input that is a sequence of `count` string tensors. The strings are copied. */
SCOPEVM_API scopevm_status* scopevm_call_set_sequence_strings(scopevm_call* call, const char* name,
                                                              const scopevm_strings* elements,
                                                              size_t count);
/** Sets an optional input to no value. */
SCOPEVM_API scopevm_status* scopevm_call_set_no_value(scopevm_call* call, const char* name);
/** Sets the buffer that receives a result. The call borrows the buffer until it is replaced or the
 * call is freed. A NULL `tensor` unsets the buffer. */
SCOPEVM_API scopevm_status* scopevm_call_set_output(scopevm_call* call, const char* name,
                                                    const DLTensor* tensor);
/** Runs the call and waits for its end. timeout_ms is in milliseconds; 0 or less for no timeout, as
 * is a time beyond the range of the clock. */
SCOPEVM_API scopevm_status* scopevm_call_run(scopevm_call* call, int64_t timeout_ms);
/** CallStats::emulated_seconds of the last run (scopevm/session.h); 0 if `call` is NULL. */
SCOPEVM_API double scopevm_call_emulated_seconds(const scopevm_call* call);
/** Returns a result of the last run. The managed tensor shares ownership of the bytes; the caller
 * releases it by calling its deleter. Fails for string tensors and for results that are not
 * tensors. */
SCOPEVM_API scopevm_status* scopevm_call_output(const scopevm_call* call, size_t index,
                                                DLManagedTensor** out);
/** The number of tensors in a result: 1 for a tensor, the number of elements for a sequence, 0 for
 * an optional without a value. *out_has_value is set to 0 for an optional without a value, else to
 * 1; out_has_value can be NULL. */
SCOPEVM_API scopevm_status* scopevm_call_output_size(const scopevm_call* call, size_t index,
                                                     size_t* out_size, int* out_has_value);
/** Like scopevm_call_output(), for tensor `element` of a result. */
SCOPEVM_API scopevm_status* scopevm_call_output_element(const scopevm_call* call, size_t index,
                                                        size_t element, DLManagedTensor** out);

/** The dims of tensor `element` of a result, valid until the next run. `element` is 0 for a result
 * that is a tensor. String tensors are supported, unlike in scopevm_call_output(). */
SCOPEVM_API scopevm_status* scopevm_call_output_dims(const scopevm_call* call, size_t index,
                                                     size_t element, const int64_t** out_dims,
                                                     size_t* out_rank);
/** The string at row-major index `position` of string tensor `element` of a result. It has
 * *out_size bytes, is not NUL-terminated, and is valid until the next run. */
SCOPEVM_API scopevm_status* scopevm_call_output_string(const scopevm_call* call, size_t index,
                                                       size_t element, size_t position,
                                                       const char** out_text, size_t* out_size);

#ifdef __cplusplus
}
#endif

#endif /* SCOPEVM_SCOPEVM_H_ */
