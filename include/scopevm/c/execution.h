/** @file
 * Execution hooks of the C API: functions that see the state of a run between its instructions, for
 * debuggers and recorders; see scopevm/execution_hook.h and scopevm/scopevm.h. Indices of
 * functions, registers and slots are those of the module file. */
#ifndef SCOPEVM_C_EXECUTION_H_
#define SCOPEVM_C_EXECUTION_H_

#include <stddef.h>
#include <stdint.h>

#include "scopevm/c/export.h"
#include "scopevm/c/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The state of a run between two instructions: ExecutionState in scopevm/execution_hook.h. Valid
 * until the hook returns. */
typedef struct scopevm_execution_state scopevm_execution_state;

/** Called before each instruction, on the thread that runs the call. NULL continues the run; a
 * status of scopevm_status_create() ends it. */
typedef scopevm_status* (*scopevm_execution_hook)(void* context,
                                                  const scopevm_execution_state* state);

/** The number of instructions that the run has executed; -1 for NULL. */
SCOPEVM_API int64_t scopevm_execution_position(const scopevm_execution_state* state);
/** The number of active functions, at least 1; 0 for NULL. */
SCOPEVM_API size_t scopevm_execution_depth(const scopevm_execution_state* state);
/** @{
 * An instruction: the index of its function, and of its first word in the code of the function.
 * scopevm_execution_next() has the instruction that is executed next.
 * scopevm_execution_return_place() has the place at which the caller of the active function `level`
 * continues; level 1 is the function that main has called.
 * REQUIRES: 1 <= level < scopevm_execution_depth(). */
SCOPEVM_API scopevm_status* scopevm_execution_next(const scopevm_execution_state* state,
                                                   uint32_t* out_function, uint32_t* out_word);
SCOPEVM_API scopevm_status* scopevm_execution_return_place(const scopevm_execution_state* state,
                                                           size_t level, uint32_t* out_function,
                                                           uint32_t* out_word);
/** @} */
/** A slot of the innermost function. REQUIRES: `index` is below its number of slots. */
SCOPEVM_API scopevm_status* scopevm_execution_slot(const scopevm_execution_state* state,
                                                   uint32_t index, int64_t* out);

/** The value of a register: RegisterValue in scopevm/execution_hook.h. Set struct_size before the
 * call. */
typedef struct scopevm_register_value {
  size_t struct_size;  /**< sizeof(scopevm_register_value) */
  const void* data;    /**< address of the first byte, which can be that of a device; NULL: empty */
  int64_t bytes;       /**< size of the storage, or of the storage that a tensor views */
  int dtype;           /**< one of scopevm_dtypes; SCOPEVM_U8 for a storage */
  size_t rank;         /**< number of elements of `dims` */
  const int64_t* dims; /**< of a tensor; none for a storage */
  int32_t pool;        /**< the module's index of the pool; -1: none */
  int is_list;         /**< 1 for a list or a closure, else 0 */
} scopevm_register_value;

/** A register of the innermost function. REQUIRES: `index` is below its number of registers. */
SCOPEVM_API scopevm_status* scopevm_execution_register(const scopevm_execution_state* state,
                                                       uint32_t index, scopevm_register_value* out);
/** Copies `size` bytes at `offset` of a value to host memory: ExecutionState::read. */
SCOPEVM_API scopevm_status* scopevm_execution_read(const scopevm_execution_state* state,
                                                   const scopevm_register_value* value,
                                                   int64_t offset, void* to, size_t size);
/** The string that an element of a string tensor denotes: *out_size bytes, not NUL-terminated.
 * *out_text is NULL for an invalid element. */
SCOPEVM_API scopevm_status* scopevm_execution_string(const scopevm_execution_state* state,
                                                     int32_t element, const char** out_text,
                                                     size_t* out_size);

#ifdef __cplusplus
}
#endif

#endif /* SCOPEVM_C_EXECUTION_H_ */
