/** @file
 * The functions of libscopevm_compiler as a table of C function pointers, for programs that load
 * the library with dlopen, as the `scopevm` command does. Programs that link the library use
 * scopevm/compiler.h.
 *
 * Options and reports are CBOR (RFC 8949) arrays of the members of the structs in
 * scopevm/compiler.h, in order; compiler/interface/messages.h encodes and decodes them. The library
 * and its caller must therefore be of one release.
 *
 * Thread-safety: the functions can be called concurrently. Each result must be used by one thread
 * at a time.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "scopevm/export.h"
#include "scopevm/external.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Incremented when a member of the table changes. */
#define SCOPEVM_COMPILER_TABLE_VERSION 8

/** Modules to measure, and the dims of the call. Valid during the call only. */
typedef struct scopevm_compiler_measurement {
  const uint8_t* const* modules; /**< the bytes of the module files */
  const size_t* module_sizes;    /**< bytes of each module */
  size_t module_count;           /**< number of modules */
  const char* const* dim_names;  /**< the names of all dimensions; NUL-terminated */
  const int64_t* dim_values;     /**< their values */
  size_t dim_count;              /**< number of dimensions */
} scopevm_compiler_measurement;

/** The callbacks and the external libraries of CompileOptions. `progress` can be null, and `dump`
 * can be null if dump_after is empty. `text` and `stage` have `size` bytes and are valid during the
 * call only. Calls of `progress` are serialized but can come from worker threads. */
typedef struct scopevm_compiler_callbacks {
  void* user; /**< passed as the first argument of all callbacks */
  /** CompileOptions::dump */
  void (*dump)(void* user, const char* text, size_t size);
  /** CompileOptions::progress */
  void (*progress)(void* user, const char* stage, size_t size, int64_t done, int64_t total);
  /** CompileOptions::external_libraries; can be null if external_library_count is 0 */
  const scopevm_external_library* const* external_libraries;
  size_t external_library_count; /**< number of elements of external_libraries */
  /** Tuning::measure; can be null. Writes one duration per module to `seconds` and returns 0.
   * Otherwise returns a scopevm::StatusCode and writes a NUL-terminated message. */
  int (*measure)(void* user, const scopevm_compiler_measurement* measurement, double* seconds,
                 char* message, size_t message_size);
  /** Tuning::find; can be null. Writes `count` times to `seconds` and returns 1 if they are known,
   * else returns 0. */
  int (*find)(void* user, const char* key, double* seconds, size_t count);
  /** Tuning::store; can be null if `find` is null. `seconds` contains `count` times. */
  void (*store)(void* user, const char* key, const double* seconds, size_t count);
} scopevm_compiler_callbacks;

/** The result of a function below. Owned by the caller. */
typedef struct scopevm_compiler_result scopevm_compiler_result;

/** The functions of the library. */
typedef struct scopevm_compiler_table {
  /* Callers check these three members before they read the others. */
  uint32_t struct_size; /**< sizeof(scopevm_compiler_table) */
  uint32_t version;     /**< SCOPEVM_COMPILER_TABLE_VERSION */
  const char* release;  /**< the library's release: "0.1.0" */

  /** `options` is an encoded CompileOptions of `size` bytes. `callbacks` can be null. The result is
   * never null; the caller releases it with release_result(). */
  scopevm_compiler_result* (*compile)(const uint8_t* options, size_t size,
                                      const scopevm_compiler_callbacks* callbacks);
  /** Like `compile`. The report is an encoded struct whose kKind is `kind`: "shapes". */
  scopevm_compiler_result* (*explain)(const char* kind, const uint8_t* options, size_t size,
                                      const scopevm_compiler_callbacks* callbacks);

  /* Accessors of a result. Returned pointers are valid until the result is released. */
  int (*status)(const scopevm_compiler_result* result); /**< a scopevm::StatusCode; 0: ok */
  const char* (*message)(const scopevm_compiler_result* result); /**< empty on success */
  /** The encoded report: a CompileOutput (without `module`) or an explanation. *size is 0 on
   * failure. */
  const uint8_t* (*report)(const scopevm_compiler_result* result, size_t* size);
  /** CompileOutput::module. *size is 0 on failure and for `explain`. */
  const uint8_t* (*module)(const scopevm_compiler_result* result, size_t* size);
  /** Releases a result and the memory that its accessors returned. */
  void (*release_result)(scopevm_compiler_result* result);
} scopevm_compiler_table;

/** Returns the table of this library. It is valid while the library is loaded. */
SCOPEVM_API const scopevm_compiler_table* scopevm_get_compiler_table(void);

#ifdef __cplusplus
}
#endif
