/* The functions of libscopevm_compiler as a table of C functions, for programs that load the
 * library at run time, as the `scopevm` command does. Programs that link it use scopevm/compiler.h.
 *
 * Options and reports are messages: CBOR (RFC 8949) maps whose members are those of the structs in
 * scopevm/compiler.h, with the same names (compiler/interface/messages.h encodes and decodes them).
 *
 * Thread-safety: as in scopevm/compiler.h; a result belongs to one thread at a time.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "scopevm/export.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Changes when a member of the table or of a message does. */
#define SCOPEVM_COMPILER_TABLE_VERSION 1

/* What CompileOptions has as std::function. Called from the thread that called the table's
 * function; a null function is not called. */
typedef struct scopevm_compiler_callbacks {
  void* user; /* the first argument of both */
  void (*dump)(void* user, const char* text, size_t size);
  void (*progress)(void* user, const char* stage, size_t size, int64_t done, int64_t total);
} scopevm_compiler_callbacks;

typedef struct scopevm_compiler_result scopevm_compiler_result;

typedef struct scopevm_compiler_table {
  /* A caller checks these before it reads the other members. */
  uint32_t struct_size; /* sizeof(scopevm_compiler_table) */
  uint32_t version;     /* SCOPEVM_COMPILER_TABLE_VERSION */
  const char* release;  /* of the library: "0.1.0" */

  /* `options` is a CompileOptions. Never null: the caller releases the result. */
  scopevm_compiler_result* (*compile)(const uint8_t* options, size_t size,
                                      const scopevm_compiler_callbacks* callbacks);
  scopevm_compiler_result* (*explain_shapes)(const uint8_t* options, size_t size,
                                             const scopevm_compiler_callbacks* callbacks);
  scopevm_compiler_result* (*explain_copies)(const uint8_t* options, size_t size,
                                             const scopevm_compiler_callbacks* callbacks);

  /* Of a result; pointers are valid until it is released. */
  int (*status)(const scopevm_compiler_result* result);          /* a scopevm::StatusCode; 0: ok */
  const char* (*message)(const scopevm_compiler_result* result); /* empty where ok */
  /* CompileOutput without `module`, ShapeExplanation or CopyExplanation; no bytes on failure. */
  const uint8_t* (*report)(const scopevm_compiler_result* result, size_t* size);
  /* CompileOutput::module; no bytes for explanations. */
  const uint8_t* (*module)(const scopevm_compiler_result* result, size_t* size);
  void (*release_result)(scopevm_compiler_result* result);
} scopevm_compiler_table;

/* The table of this library; it lives as long as the library is loaded. */
SCOPEVM_API const scopevm_compiler_table* scopevm_get_compiler_table(void);

#ifdef __cplusplus
}
#endif
