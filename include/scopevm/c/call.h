/** @file
 * Calls of the C API: inputs, runs, results and statistics; see scopevm/scopevm.h. */
#ifndef SCOPEVM_C_CALL_H_
#define SCOPEVM_C_CALL_H_

#include <stddef.h>
#include <stdint.h>

#include "scopevm/c/dlpack.h"
#include "scopevm/c/execution.h"
#include "scopevm/c/export.h"
#include "scopevm/c/session.h"
#include "scopevm/c/status.h"
#include "scopevm/c/tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

/** One inference request. It can run any number of times: inputs and outputs stay set until they
 * are replaced. */
typedef struct scopevm_call scopevm_call;

/** Creates a call. It keeps the session alive. */
SCOPEVM_API scopevm_status* scopevm_call_create(const scopevm_session* session, scopevm_call** out);
/** Releases the call; one that is in flight is cancelled first. Waits like scopevm_call_wait().
 * Tensors from scopevm_call_output() remain valid. */
SCOPEVM_API void scopevm_call_free(scopevm_call* call);

/** The index of the input `name`. Fails with SCOPEVM_NOT_FOUND, and suggests the nearest name. */
SCOPEVM_API scopevm_status* scopevm_call_find_input(const scopevm_call* call, const char* name,
                                                    size_t* out);
/** Like scopevm_call_find_input(), for an output. */
SCOPEVM_API scopevm_status* scopevm_call_find_output(const scopevm_call* call, const char* name,
                                                     size_t* out);

/** @{
 * Sets an input that is a tensor, or an optional tensor with a value. A NULL `tensor` unsets it: it
 * then has its default if there is one.
 * The call borrows the tensor's bytes until the input is replaced or the call is freed, and never
 * writes them. The DLTensor struct is copied. The elements of a tensor with strides are copied now,
 * because kernels read compact row-major tensors (scopevm_call_stats::copied_input_bytes). */
SCOPEVM_API scopevm_status* scopevm_call_set_input(scopevm_call* call, const char* name,
                                                   const DLTensor* tensor);
SCOPEVM_API scopevm_status* scopevm_call_set_input_at(scopevm_call* call, size_t index,
                                                      const DLTensor* tensor);
/** @} */
/** Like scopevm_call_set_input_at(), but takes ownership of `tensor`: its deleter is called when
 * the call and the results that share its bytes no longer use it. On failure, the caller keeps
 * ownership. Fails with SCOPEVM_UNSUPPORTED if its major version is not DLPACK_MAJOR_VERSION. */
SCOPEVM_API scopevm_status* scopevm_call_give_input(scopevm_call* call, size_t index,
                                                    DLManagedTensorVersioned* tensor);
/** @{
 * Sets an input that is a sequence or an optional sequence; `tensors` has `count` elements. The
 * call borrows the bytes of the elements like scopevm_call_set_input(). */
SCOPEVM_API scopevm_status* scopevm_call_set_sequence(scopevm_call* call, const char* name,
                                                      const DLTensor* const* tensors, size_t count);
SCOPEVM_API scopevm_status* scopevm_call_set_sequence_at(scopevm_call* call, size_t index,
                                                         const DLTensor* const* tensors,
                                                         size_t count);
/** @} */

/** @{
 * Sets an input to a tensor that shares its storage with the call, or to a sequence of `count` such
 * tensors: Call::set_input and Call::set_sequence in scopevm/call.h. An empty tensor unsets the
 * input. */
SCOPEVM_API scopevm_status* scopevm_call_share_input(scopevm_call* call, size_t index,
                                                     const scopevm_tensor* tensor);
SCOPEVM_API scopevm_status* scopevm_call_share_sequence(scopevm_call* call, size_t index,
                                                        const scopevm_tensor* tensors,
                                                        size_t count);
/** @} */
/** @{
 * Sets an input that is a string tensor. The strings are copied. */
SCOPEVM_API scopevm_status* scopevm_call_set_input_strings(scopevm_call* call, const char* name,
                                                           const scopevm_strings* strings);
SCOPEVM_API scopevm_status* scopevm_call_set_input_strings_at(scopevm_call* call, size_t index,
                                                              const scopevm_strings* strings);
/** @} */
/** @{
 * Sets an input that is a sequence of `count` string tensors. The strings are copied. */
SCOPEVM_API scopevm_status* scopevm_call_set_sequence_strings(scopevm_call* call, const char* name,
                                                              const scopevm_strings* elements,
                                                              size_t count);
SCOPEVM_API scopevm_status* scopevm_call_set_sequence_strings_at(scopevm_call* call, size_t index,
                                                                 const scopevm_strings* elements,
                                                                 size_t count);
/** @} */
/** @{
 * Sets an optional input to no value. */
SCOPEVM_API scopevm_status* scopevm_call_set_no_value(scopevm_call* call, const char* name);
SCOPEVM_API scopevm_status* scopevm_call_set_no_value_at(scopevm_call* call, size_t index);
/** @} */
/** @{
 * Sets the buffer that receives a result: a compact row-major tensor with its dims. The call
 * borrows the buffer until it is replaced or the call is freed. A NULL `tensor` unsets it. */
SCOPEVM_API scopevm_status* scopevm_call_set_output(scopevm_call* call, const char* name,
                                                    const DLTensor* tensor);
SCOPEVM_API scopevm_status* scopevm_call_set_output_at(scopevm_call* call, size_t index,
                                                       const DLTensor* tensor);
/** @} */
/** Like scopevm_call_set_output_at(), with a tensor whose storage the call shares. An empty tensor
 * unsets the buffer. */
SCOPEVM_API scopevm_status* scopevm_call_share_output(scopevm_call* call, size_t index,
                                                      const scopevm_tensor* tensor);
/** Sets a buffer for a result whose size the caller does not know: Call::set_output_buffer in
 * scopevm/call.h. `data` has `capacity` bytes and is aligned to the element size. The dims of
 * the result are those of scopevm_call_output_dims(). A run whose result is larger fails with
 * SCOPEVM_INVALID_ARGUMENT; the message and the fields of the error have both sizes. */
SCOPEVM_API scopevm_status* scopevm_call_set_output_buffer(scopevm_call* call, size_t index,
                                                           void* data, int64_t capacity);

/** The value of a dimension in a traced call. */
typedef struct scopevm_trace_dim {
  const char* name; /**< of the dimension */
  int64_t value;    /**< its value */
} scopevm_trace_dim;

/** What happened in an interval of a traced call: TraceEvent in scopevm/call.h. Strings are valid
 * as long as the session. */
typedef struct scopevm_trace_event {
  size_t struct_size;      /**< sizeof(scopevm_trace_event) in the library */
  int kind;                /**< 0: call, 1: function, 2: launch, 3: copy, 4: wait, 5: memory */
  int lane;                /**< 0: the calling thread, 1: a worker, 2: a non-CPU device */
  int64_t worker;          /**< index of the worker, for lane 1 */
  const char* name;        /**< the function of a call; the model's ops of a launch or copy */
  const char* kernel;      /**< symbol of a launch's kernel or external function; else empty */
  const char* device;      /**< that executes a launch or copy, or of memory; else empty */
  const char* from_device; /**< of a copy's source; else empty */
  const char* from_scope;  /**< of a copy's source; else empty */
  const char* to_device;   /**< of a copy's destination; else empty */
  const char* to_scope;    /**< of a copy's destination; else empty */
  int64_t bytes;           /**< of a copy or launch; peak of a call; live bytes of memory */
  int64_t start_ns;        /**< time since the epoch of the steady clock (CLOCK_MONOTONIC) */
  int64_t duration_ns;     /**< end of the interval minus its start */
  const char* scope;       /**< memory scope of memory; else empty */
  uint64_t request_id;     /**< scopevm_run_options::request_id */
  int status;              /**< result of a call, or of a wait that ended without a run; else 0 */
  const scopevm_trace_dim* dims; /**< of a call; else NULL */
  size_t dim_count;              /**< number of elements of `dims` */
  size_t dim_size;               /**< sizeof(scopevm_trace_dim) in the library */
} scopevm_trace_event;

/** The options of one run. Initialise with {sizeof(scopevm_run_options)}. */
typedef struct scopevm_run_options {
  size_t struct_size; /**< sizeof(scopevm_run_options) */
  /** In nanoseconds from the start of the run: a run that lasts longer fails with
   * SCOPEVM_DEADLINE_EXCEEDED. 0 or less, or beyond the range of the clock: none. */
  int64_t timeout_ns;
  /** The time, in nanoseconds since the epoch of the steady clock (CLOCK_MONOTONIC), after which
   * the run fails with SCOPEVM_DEADLINE_EXCEEDED; 0: none. */
  int64_t deadline_ns;
  /** The run fails with SCOPEVM_CANCELLED when this byte becomes nonzero, which a thread writes
   * atomically. NULL: none. Must outlive the run. See also scopevm_call_cancel(). */
  const unsigned char* cancel;
  /** If not NULL, called on the thread that runs the call, after the end of each interval. `event`
   * is valid during the call of this function. Returns NULL, or a status of
   * scopevm_status_create(), which ends the run. */
  scopevm_status* (*trace)(void* context, const scopevm_trace_event* event);
  void* trace_context; /**< first argument of `trace` */
  /** Sees the state between the instructions (scopevm/c/execution.h). NULL: none. */
  scopevm_execution_hook hook;
  void* hook_context; /**< first argument of `hook` */
  /** Identifies the run in the trace and the log; 0: the library chooses a number. */
  uint64_t request_id;
} scopevm_run_options;

/** Runs the call and waits for its end. `options` can be NULL. */
SCOPEVM_API scopevm_status* scopevm_call_run(scopevm_call* call,
                                             const scopevm_run_options* options);

/** Runs one request: Session::call in scopevm/session.h. `inputs` has `count` tensors in the order
 * of the model, which are shared; an empty one is unset. `outputs` has room for `capacity` tensors,
 * one per output, whose storages the caller releases. `options` can be NULL. */
SCOPEVM_API scopevm_status* scopevm_session_call(const scopevm_session* session,
                                                 const scopevm_tensor* inputs, size_t count,
                                                 const scopevm_run_options* options,
                                                 scopevm_tensor* outputs, size_t capacity);
/** Makes one call with zeros as inputs, so that later calls need not start threads, build kernels
 * or map memory: Session::warm_up in scopevm/session.h. The arrays have `count` elements: the
 * values of the named dimensions. `options` can be NULL. */
SCOPEVM_API scopevm_status* scopevm_session_warm_up(const scopevm_session* session,
                                                    const char* const* names, const int64_t* values,
                                                    size_t count,
                                                    const scopevm_run_options* options);
/** Runs the requests of rank 0 until it has released its session: Session::follow. The members
 * `trace` and `trace_context` of `options` apply to the requests that rank 0 traces, several
 * at a time; the others have no effect. `options` can be NULL. */
SCOPEVM_API scopevm_status* scopevm_session_follow(const scopevm_session* session,
                                                   const scopevm_run_options* options);

/** The options of scopevm_call_submit(). Initialise with {sizeof(scopevm_submit_options)}. */
typedef struct scopevm_submit_options {
  size_t struct_size; /**< sizeof(scopevm_submit_options) */
  /** The options of the run; times include waiting, and `trace` and `hook` run on a worker. NULL:
   * the defaults. The struct is copied. */
  const scopevm_run_options* run;
  int priority; /**< from -1000 to 1000; calls with a higher priority are admitted first */
  /** Bytes for memory whose size depends on data: SubmitOptions::data_budgets. */
  const scopevm_memory_limit* data_budgets;
  size_t data_budget_count; /**< number of elements of `data_budgets` */
  size_t data_budget_size;  /**< sizeof(scopevm_memory_limit) */
  /** 1: scopevm_call_submit() itself can run the call (SubmitOptions::can_run_here); 0: a worker
   * runs it */
  int can_run_here;
} scopevm_submit_options;

/** Queues the call; a worker of the session's scheduler runs it: Call::submit in scopevm/call.h.
 * `options` can be NULL. `done` (can be NULL) is called once with the result, NULL on success, when
 * the call can be used again; `result` is valid during the call of this function. `done`
 * can use, submit or free the call, and must not wait for other calls: scopevm_call_run() and
 * scopevm_call_wait() fail on threads of the scheduler. Until the call has ended, only the
 * functions that any thread can call are allowed; the others fail or have no effect. */
SCOPEVM_API scopevm_status* scopevm_call_submit(
    scopevm_call* call, const scopevm_submit_options* options,
    void (*done)(void* context, const scopevm_status* result), void* context);
/** Waits until the call is not in flight and `done` has returned, except in `done` itself, at most
 * `timeout_ns` nanoseconds; negative: without a limit. Returns the result of the last
 * scopevm_call_submit(), or SCOPEVM_DEADLINE_EXCEEDED if the call is still in flight. */
SCOPEVM_API scopevm_status* scopevm_call_wait(const scopevm_call* call, int64_t timeout_ns);
/** 1 from scopevm_call_submit() until the call has ended, else 0. 0 for NULL. */
SCOPEVM_API int scopevm_call_is_in_flight(const scopevm_call* call);
/** Cancels the run in progress or the submitted one, which fails with SCOPEVM_CANCELLED. If none is
 * in progress, the next run is cancelled. Any thread can call this function, until
 * scopevm_call_free(). No effect for NULL. */
SCOPEVM_API void scopevm_call_cancel(scopevm_call* call);

/** @{
 * A result of the last run. The managed tensor shares ownership of the bytes; the caller releases
 * it by calling its deleter. Fails for string tensors and for results that are not tensors. */
SCOPEVM_API scopevm_status* scopevm_call_output(const scopevm_call* call, size_t index,
                                                DLManagedTensor** out);
SCOPEVM_API scopevm_status* scopevm_call_output_versioned(const scopevm_call* call, size_t index,
                                                          DLManagedTensorVersioned** out);
/** @} */
/** The number of tensors in a result: 1 for a tensor, the number of elements for a sequence, 0 for
 * an optional without a value. *out_has_value is set to 0 for an optional without a value, else to
 * 1; out_has_value can be NULL. */
SCOPEVM_API scopevm_status* scopevm_call_output_size(const scopevm_call* call, size_t index,
                                                     size_t* out_size, int* out_has_value);
/** @{
 * Like scopevm_call_output(), for tensor `element` of a result. */
SCOPEVM_API scopevm_status* scopevm_call_output_element(const scopevm_call* call, size_t index,
                                                        size_t element, DLManagedTensor** out);
SCOPEVM_API scopevm_status* scopevm_call_output_element_versioned(const scopevm_call* call,
                                                                  size_t index, size_t element,
                                                                  DLManagedTensorVersioned** out);
/** @} */
/** The results of the last run, one per output; an empty tensor for a result that is not a tensor.
 * *out_count is their number: 0 if the call has no results, is in flight, or is NULL. The result is
 * then NULL. Valid until the next run; the tensors belong to the call. */
SCOPEVM_API const scopevm_tensor* scopevm_call_results(const scopevm_call* call, size_t* out_count);
/** One of scopevm_call_results(), by the name of the output. The caller releases its storage. Fails
 * with SCOPEVM_NOT_FOUND if there is no such output, or the call has no results. */
SCOPEVM_API scopevm_status* scopevm_call_find_result(const scopevm_call* call, const char* name,
                                                     scopevm_tensor* out);
/** The tensors of a result: Call::elements in scopevm/call.h. *out is an array of *out_count
 * tensors. Valid until the next run; the tensors belong to the call. */
SCOPEVM_API scopevm_status* scopevm_call_elements(const scopevm_call* call, size_t index,
                                                  const scopevm_tensor** out, size_t* out_count);
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
/** Releases the results now. Otherwise, the next run or scopevm_call_free() releases them. No
 * effect for NULL. */
SCOPEVM_API void scopevm_call_clear_outputs(scopevm_call* call);

/** Statistics of the last run: CallStats in scopevm/call.h. Set struct_size before the call.
 * All members are 0 or empty if the call has not run or its inputs were invalid. */
typedef struct scopevm_call_stats {
  size_t struct_size;         /**< sizeof(scopevm_call_stats) */
  int64_t latency_ns;         /**< duration of the run */
  const char* function;       /**< "main", or the variant that ran; valid as long as the module */
  double emulated_seconds;    /**< with scopevm_session_options::emulate; else 0 */
  int64_t copied_input_bytes; /**< of inputs that were copied, because they had strides */
  size_t memory_count;        /**< number of elements of scopevm_call_memory_use() */
  size_t copy_count;          /**< number of elements of scopevm_call_copy_use() */
} scopevm_call_stats;

/** Sets the members of *out that fit out->struct_size. */
SCOPEVM_API scopevm_status* scopevm_call_read_stats(const scopevm_call* call,
                                                    scopevm_call_stats* out);

/** The memory that the last run used in one memory scope: ScopeUse in scopevm/call.h. Strings
 * are valid as long as the module. */
typedef struct scopevm_memory_use {
  size_t struct_size;        /**< sizeof(scopevm_memory_use) */
  const char* device;        /**< name of the device in the module */
  const char* scope;         /**< memory scope */
  int64_t bound_bytes;       /**< the bound at the dims of the run */
  int64_t lower_bound_bytes; /**< the lower bound at the dims of the run */
  int64_t peak_bytes;        /**< maximum of the live bytes during the run, results included */
  int64_t allocations;       /**< number of allocations from the scope's allocator */
} scopevm_memory_use;

/** The copies of the last run from one memory scope to another: CopyUse in scopevm/call.h.
 * Strings are valid as long as the module. */
typedef struct scopevm_copy_use {
  size_t struct_size;      /**< sizeof(scopevm_copy_use) */
  const char* from_device; /**< device of the source */
  const char* from_scope;  /**< memory scope of the source */
  const char* to_device;   /**< device of the destination */
  const char* to_scope;    /**< memory scope of the destination */
  int64_t copies;          /**< number of copies */
  int64_t bytes;           /**< sum of their sizes */
} scopevm_copy_use;

/** Fails with SCOPEVM_NOT_FOUND if `index` is not below scopevm_call_stats::memory_count. */
SCOPEVM_API scopevm_status* scopevm_call_memory_use(const scopevm_call* call, size_t index,
                                                    scopevm_memory_use* out);
/** Fails with SCOPEVM_NOT_FOUND if `index` is not below scopevm_call_stats::copy_count. */
SCOPEVM_API scopevm_status* scopevm_call_copy_use(const scopevm_call* call, size_t index,
                                                  scopevm_copy_use* out);

#ifdef __cplusplus
}
#endif

#endif /* SCOPEVM_C_CALL_H_ */
