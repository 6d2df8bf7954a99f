/* The C API: a thin, stable layer over the C++ one. Handles are opaque; functions are only ever
 * added. Check scopevm_api_version() against SCOPEVM_API_VERSION when loading dynamically.
 *
 * Errors: a function that can fail returns NULL for success, else a status that the caller frees
 * with scopevm_status_free. Out parameters are set only on success.
 * Strings returned are owned by the object that they came from.
 * Thread-safety: modules and sessions may be used by several threads at once; a call by one thread
 * at a time. */
#ifndef SCOPEVM_SCOPEVM_H_
#define SCOPEVM_SCOPEVM_H_

#include <stddef.h>
#include <stdint.h>

#include "scopevm/dlpack.h"
#include "scopevm/export.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SCOPEVM_API_VERSION 3

typedef struct scopevm_status scopevm_status;
typedef struct scopevm_module scopevm_module;
typedef struct scopevm_session scopevm_session;
typedef struct scopevm_call scopevm_call;

/* The version that the library implements: SCOPEVM_API_VERSION of its header. */
SCOPEVM_API int scopevm_api_version(void);

/* Codes are those of StatusCode in scopevm/status.h. */
SCOPEVM_API int scopevm_status_code(const scopevm_status* status);
SCOPEVM_API const char* scopevm_status_message(const scopevm_status* status);
SCOPEVM_API void scopevm_status_free(scopevm_status* status);

SCOPEVM_API scopevm_status* scopevm_module_load(const char* path, scopevm_module** out);
/* Copies the bytes. */
SCOPEVM_API scopevm_status* scopevm_module_load_bytes(const void* bytes, size_t size,
                                                      scopevm_module** out);
/* Sessions made from it stay valid. */
SCOPEVM_API void scopevm_module_free(scopevm_module* module);

SCOPEVM_API size_t scopevm_module_input_count(const scopevm_module* module);
SCOPEVM_API size_t scopevm_module_output_count(const scopevm_module* module);
/* NULL when index is out of range. */
SCOPEVM_API const char* scopevm_module_input_name(const scopevm_module* module, size_t index);
SCOPEVM_API const char* scopevm_module_output_name(const scopevm_module* module, size_t index);

/* 0 a tensor, 1 a sequence, 2 an optional tensor, 3 an optional sequence; -1 when index is out of
 * range. */
SCOPEVM_API int scopevm_module_input_kind(const scopevm_module* module, size_t index);
SCOPEVM_API int scopevm_module_output_kind(const scopevm_module* module, size_t index);

/* Exact bytes that a call allocates in `scope` (all devices), results included, when dimension
 * names[i] is values[i] and the session has `threads` threads. */
SCOPEVM_API scopevm_status* scopevm_module_memory_bound(const scopevm_module* module,
                                                        const char* const* names,
                                                        const int64_t* values, size_t count,
                                                        int threads, const char* scope,
                                                        int64_t* out_bytes);

typedef struct {
  const char* scope; /* "global.workspace" of each device, or "npu.global.workspace" of one */
  int64_t bytes;
} scopevm_memory_limit;

/* struct_size is sizeof(scopevm_session_options) at the caller: later versions add members at the
 * end. Start from {sizeof(scopevm_session_options)}. */
typedef struct {
  size_t struct_size;
  int threads; /* 0: 1 thread; negative: one per core */
  const scopevm_memory_limit* limits;
  size_t limit_count;
  /* The embedder's parallel loop, or NULL; then executor_threads is the number of its workers. The
   * contract is that of Executor::parallel_for in scopevm/executor.h. */
  void (*parallel_for)(void* executor, int64_t total, int64_t grain,
                       void (*body)(void* context, int64_t begin, int64_t end, int64_t worker),
                       void* context);
  void* executor;
  int executor_threads;
  int emulate; /* not 0: SessionOptions::emulate */
} scopevm_session_options;

/* `options` may be NULL. */
SCOPEVM_API scopevm_status* scopevm_session_create(const scopevm_module* module,
                                                   const scopevm_session_options* options,
                                                   scopevm_session** out);
SCOPEVM_API void scopevm_session_free(scopevm_session* session);

SCOPEVM_API scopevm_status* scopevm_call_create(const scopevm_session* session, scopevm_call** out);
SCOPEVM_API void scopevm_call_free(scopevm_call* call);

/* Borrows the tensor's bytes until they are replaced or the call is freed. Only `tensor` itself is
 * copied. Inputs are never written. */
SCOPEVM_API scopevm_status* scopevm_call_set_input(scopevm_call* call, const char* name,
                                                   const DLTensor* tensor);
/* An input that is a sequence, or an optional one; an optional tensor is set like a tensor. Borrows
 * likewise. */
SCOPEVM_API scopevm_status* scopevm_call_set_sequence(scopevm_call* call, const char* name,
                                                      const DLTensor* const* tensors, size_t count);
/* A tensor of texts: as many as the dims say. `sizes` are their bytes, or NULL where each ends with
 * a 0. */
typedef struct {
  const char* const* texts;
  const size_t* sizes;
  const int64_t* dims;
  size_t rank;
} scopevm_texts;

/* An input whose elements are texts, or a sequence of such. The texts are copied. */
SCOPEVM_API scopevm_status* scopevm_call_set_input_texts(scopevm_call* call, const char* name,
                                                         const scopevm_texts* texts);
SCOPEVM_API scopevm_status* scopevm_call_set_sequence_texts(scopevm_call* call, const char* name,
                                                            const scopevm_texts* elements,
                                                            size_t count);
/* An optional without a value. */
SCOPEVM_API scopevm_status* scopevm_call_set_no_value(scopevm_call* call, const char* name);
/* A buffer for a result, borrowed likewise; NULL unsets. */
SCOPEVM_API scopevm_status* scopevm_call_set_output(scopevm_call* call, const char* name,
                                                    const DLTensor* tensor);
/* timeout_ms: 0 for none. */
SCOPEVM_API scopevm_status* scopevm_call_run(scopevm_call* call, int64_t timeout_ms);
/* CallStats::emulated_seconds of the last run. */
SCOPEVM_API double scopevm_call_emulated_seconds(const scopevm_call* call);
/* A result of the last run, sharing ownership of the bytes: free it with its deleter. */
SCOPEVM_API scopevm_status* scopevm_call_output(const scopevm_call* call, size_t index,
                                                DLManagedTensor** out);
/* How many tensors a result of any kind is; has_value (may be NULL) is 0 for an optional without
 * one, else 1. */
SCOPEVM_API scopevm_status* scopevm_call_output_size(const scopevm_call* call, size_t index,
                                                     size_t* out_size, int* out_has_value);
/* One of them, as scopevm_call_output gives it. */
SCOPEVM_API scopevm_status* scopevm_call_output_element(const scopevm_call* call, size_t index,
                                                        size_t element, DLManagedTensor** out);

/* The dims of tensor `element` of a result, valid until the next run. Also where it has texts,
 * which scopevm_call_output refuses. Of a result that is a tensor, `element` is 0. */
SCOPEVM_API scopevm_status* scopevm_call_output_dims(const scopevm_call* call, size_t index,
                                                     size_t element, const int64_t** out_dims,
                                                     size_t* out_rank);
/* The text at `position`, in row-major order, of that tensor: bytes with no 0 behind them, valid
 * until the next run. */
SCOPEVM_API scopevm_status* scopevm_call_output_text(const scopevm_call* call, size_t index,
                                                     size_t element, size_t position,
                                                     const char** out_text, size_t* out_size);

#ifdef __cplusplus
}
#endif

#endif /* SCOPEVM_SCOPEVM_H_ */
