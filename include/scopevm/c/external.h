/** @file
 * The ABI of external libraries: code that computes parts of a model instead of scopevm's kernels.
 * It is plain C, so that a library can be a plug-in (a shared object that scopevm loads) or a part
 * of the embedding program.
 *
 * An external function is one part of a model that a library computes. The module contains its
 * symbol, the types of its parameters and results, and a description instead of code. The compiler
 * calls `accept`, a session calls `create`, and each request calls `run`.
 *
 * The description is a JSON object (docs/external.md, "Descriptions"):
 *
 *     {"operands": [{"dtype": "f32", "dims": ["n", 768]}, {"dtype": "f32", "dims": [768, 64]}],
 *      "ops": [{"op": "matmul", "operands": [0, 1], "attributes": {},
 *               "results": [{"dtype": "f32", "dims": ["n", 64]}]},
 *              {"op": "relu", "operands": [2], "attributes": {},
 *               "results": [{"dtype": "f32", "dims": ["n", 64]}]}],
 *      "results": [3]}
 *
 * Values are numbered: first the operands, then the results of the ops in order. A dim is a number
 * or a formula over names of dims; the names have no meaning outside the description.
 *
 * An operand with `"constant": true` is a constant in every call, such as a weight. A library can
 * prepare it: the compiler stores the prepared form in the module instead of the constant. The
 * operand then has the member `"prepared": {"bytes": 9408, "layout": "..."}`, and `run` receives
 * the prepared form as a `u8` tensor of this size. `dtype` and `dims` remain those of the constant.
 *
 * Errors: a callback that can fail returns 0 on success. Otherwise it returns a StatusCode of
 * scopevm/status.h and writes a NUL-terminated message to `message`, which has `message_size`
 * bytes. Another code is reported as kInternal. Callbacks must not throw and must not end the
 * process.
 *
 * Thread-safety: scopevm calls every callback from several threads concurrently, with the same
 * `context` and the same function. */
#ifndef SCOPEVM_C_EXTERNAL_H_
#define SCOPEVM_C_EXTERNAL_H_

#include <stddef.h>
#include <stdint.h>

#include "scopevm/c/dlpack.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The version of this ABI. A library of another version is not used. */
#define SCOPEVM_EXTERNAL_ABI_VERSION 1

/** One run of an external function. All pointers are valid during the run only. */
typedef struct scopevm_external_run {
  size_t struct_size; /**< sizeof(scopevm_external_run); later versions add members at the end */
  /** The operands; their bytes must not be written. Tensors are in host memory, compact and
   * row-major. */
  const DLTensor* operands;
  size_t operand_count; /**< number of elements of `operands` */
  /** The results. Their dims are set, and `run` writes every element. No result overlaps an operand
   * or another result. */
  const DLTensor* results;
  size_t result_count; /**< number of elements of `results` */
  /** `workspace_bytes` bytes with undefined contents, aligned to 64 bytes. */
  void* workspace;
  int64_t workspace_bytes; /**< the value of the function's workspace formula */
  int threads;             /**< the session's number of workers, at least 1 */
  /** The session's parallel loop: the contract is that of Executor::parallel_for in
   * scopevm/executor.h. `executor` is passed as the first argument. */
  void (*parallel_for)(void* executor, int64_t total, int64_t grain,
                       void (*body)(void* context, int64_t begin, int64_t end, int64_t worker),
                       void* context);
  void* executor; /**< first argument of parallel_for and is_stopped */
  /** Nonzero if the call is cancelled or has passed its deadline. A long run should then return;
   * its results are not used. */
  int (*is_stopped)(void* executor);
  char* message;       /**< receives the message of an error */
  size_t message_size; /**< bytes of `message` */
} scopevm_external_run;

/** A constant operand of a function: the library decides whether it prepares it. */
typedef struct scopevm_external_constant {
  size_t operand; /**< its number */
  /** Out: the size of the prepared form in bytes, at least 1; initially 0: passed as it is. */
  int64_t bytes;
  /** Out: a NUL-terminated text about the prepared form, which the description then contains;
   * initially empty. */
  char layout[256];
} scopevm_external_constant;

/** The compiler's query about a function. */
typedef struct scopevm_external_query {
  size_t struct_size;      /**< sizeof(scopevm_external_query) */
  const char* symbol;      /**< the function's symbol */
  const char* description; /**< the function: see above */
  /** Out: the bytes of workspace that a run needs, as a formula over the dims in `description` and
   * `$threads`, the session's number of workers; NUL-terminated; initially "0". */
  char* workspace;
  size_t workspace_size;                /**< bytes of `workspace`, at least 4096 */
  char* message;                        /**< receives the message of an error */
  size_t message_size;                  /**< bytes of `message` */
  scopevm_external_constant* constants; /**< the constant operands, in ascending order */
  size_t constant_count;                /**< number of elements of `constants` */
} scopevm_external_query;

/** An external library. Callbacks are not NULL unless stated. */
typedef struct scopevm_external_library {
  size_t struct_size; /**< at least sizeof(scopevm_external_library) */
  int abi_version;    /**< SCOPEVM_EXTERNAL_ABI_VERSION */
  const char* name;   /**< the name by which modules refer to the library: "dnnl" */
  void* context;      /**< first argument of the callbacks */
  /** The patterns of the graphs that the library can compute, as functions of graph ops
   * (docs/external.md, "Patterns"). NULL for a library that only computes functions that models
   * call by name. */
  const char* patterns;
  /** For the compiler: returns 0 if the library can compute the function, and kUnsupported with the
   * reason if it cannot. Other codes fail the compilation, as does an invalid formula. NULL:
   * accepts every function, without a workspace. */
  int (*accept)(void* context, scopevm_external_query* query);
  /** For the compiler: writes the prepared form of constant operand `operand` to `prepared`, which
   * has the number of bytes that `accept` returned. It must not depend on anything but the
   * arguments. `description` contains the members `prepared`. `value` is compact and row-major.
   * NULL for a library that prepares no constants. */
  int (*prepare)(void* context, const char* symbol, const char* description, size_t operand,
                 const DLTensor* value, void* prepared, char* message, size_t message_size);
  /** Creates the function for a session. *out_function is passed to `run` and `destroy`. Fails with
   * kUnsupported if the library does not know the function. */
  int (*create)(void* context, const char* symbol, const char* description, void** out_function,
                char* message, size_t message_size);
  /** Destroys a function. No run of it is active. */
  void (*destroy)(void* context, void* function);
  /** Computes the results. */
  int (*run)(void* context, void* function, const scopevm_external_run* run);
  /** The version of the library's kernels, such as "3.1". Measurements of another version are not
   * used (`compile --tune`). NULL: unknown. */
  const char* version;
  /** Nonzero: the compiler first offers parts of more than one match. Each consists of the matches
   * that use each other's results. The matches of a part that the library refuses are then offered
   * one by one. */
  int merges_parts;
} scopevm_external_library;

/** The symbol that a plug-in exports: returns its library, which is valid as long as the plug-in is
 * loaded. NULL: it supports no ABI of version `abi_version`. */
#define SCOPEVM_EXTERNAL_ENTRY "scopevm_external_library_entry"
/** The type of SCOPEVM_EXTERNAL_ENTRY. */
typedef const scopevm_external_library* (*scopevm_external_entry)(int abi_version);

#ifdef __cplusplus
}
#endif

#endif /* SCOPEVM_C_EXTERNAL_H_ */
