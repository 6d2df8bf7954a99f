/** @file
 * States of the C API: values that a module carries from one call to the next; see State in
 * scopevm/state.h, and scopevm/scopevm.h. */
#ifndef SCOPEVM_C_STATE_H_
#define SCOPEVM_C_STATE_H_

#include <stddef.h>
#include <stdint.h>

#include "scopevm/c/call.h"
#include "scopevm/c/dlpack.h"
#include "scopevm/c/export.h"
#include "scopevm/c/session.h"
#include "scopevm/c/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Values of inputs, which calls read and replace. One call or function uses a state at a time;
 * others fail with SCOPEVM_INVALID_ARGUMENT. */
typedef struct scopevm_state scopevm_state;

/** An input and an output that a state ties: StatePair in scopevm/state.h. */
typedef struct scopevm_state_pair {
  const char* input;  /**< name of the input */
  const char* output; /**< name of the output */
  /** The value before the first call, which is copied; NULL: the default of the input, or zeros. */
  const DLTensor* initial;
  /** The same as a tensor; at most one of both is not NULL. An empty tensor is the same as none. */
  const scopevm_tensor* initial_tensor;
} scopevm_state_pair;

/** Initialise with {sizeof(scopevm_state_options)}. */
typedef struct scopevm_state_options {
  size_t struct_size;              /**< sizeof(scopevm_state_options) */
  const scopevm_state_pair* pairs; /**< as StateOptions::pairs; can be NULL if there are none */
  size_t pair_count;               /**< number of elements of `pairs` */
  size_t pair_size;                /**< sizeof(scopevm_state_pair) */
  /** Names of the dimensions in the dims of the inputs: StateOptions::dims. */
  const char* const* dim_names;
  const int64_t* dim_values; /**< their values */
  size_t dim_count;          /**< number of elements of `dim_names` and `dim_values` */
} scopevm_state_options;

/** Allocates a state with the initial values: State::create. It keeps the session alive. */
SCOPEVM_API scopevm_status* scopevm_state_create(const scopevm_session* session,
                                                 const scopevm_state_options* options,
                                                 scopevm_state** out);
/** Releases the handle. Calls that use the state keep it alive. */
SCOPEVM_API void scopevm_state_free(scopevm_state* state);

/** Sets the state of a call, which its runs read and replace: Call::set_state in
 * scopevm/call.h. NULL: no state. The call shares the state. */
SCOPEVM_API scopevm_status* scopevm_call_set_state(scopevm_call* call, const scopevm_state* state);

/** A copy of the current value of an input. The caller releases it by calling its deleter. */
SCOPEVM_API scopevm_status* scopevm_state_value(const scopevm_state* state, const char* input,
                                                DLManagedTensorVersioned** out);
/** Replaces the current value of an input by a copy of `tensor`. */
SCOPEVM_API scopevm_status* scopevm_state_set_value(scopevm_state* state, const char* input,
                                                    const DLTensor* tensor);
/** Like scopevm_state_value(), as a tensor whose storage the caller releases. */
SCOPEVM_API scopevm_status* scopevm_state_read(const scopevm_state* state, const char* input,
                                               scopevm_tensor* out);
/** Like scopevm_state_set_value(). */
SCOPEVM_API scopevm_status* scopevm_state_write(scopevm_state* state, const char* input,
                                                const scopevm_tensor* tensor);
/** Replaces all values by the initial ones. */
SCOPEVM_API scopevm_status* scopevm_state_reset(scopevm_state* state);
/** A new state with the same values: State::fork. */
SCOPEVM_API scopevm_status* scopevm_state_fork(const scopevm_state* state, scopevm_state** out);
/** Writes the values to `data`, in the format of docs/state.md, and their number of bytes to
 * *out_size. This number is constant while the sizes of the values are. If `data` is NULL,
 * only the number is written. Fails with SCOPEVM_INVALID_ARGUMENT if `capacity` is less. */
SCOPEVM_API scopevm_status* scopevm_state_snapshot(const scopevm_state* state, void* data,
                                                   size_t capacity, size_t* out_size);
/** Replaces the values by those of a snapshot: State::restore. */
SCOPEVM_API scopevm_status* scopevm_state_restore(scopevm_state* state, const void* data,
                                                  size_t size);
/** The number of calls that have changed the state; 0 for NULL. */
SCOPEVM_API int64_t scopevm_state_steps(const scopevm_state* state);

#ifdef __cplusplus
}
#endif

#endif /* SCOPEVM_C_STATE_H_ */
