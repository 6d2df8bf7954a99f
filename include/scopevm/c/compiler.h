/** @file
 * The C API of the compiler, in libscopevm_compiler. It has the rules of scopevm/scopevm.h, and
 * does not need libscopevm. See also scopevm/compiler.h and docs/compiler-api.md.
 *
 * Thread-safety: several compilers can be used concurrently. A compiler is used by one thread at a
 * time, except for scopevm_compiler_cancel(). A compiled module can be used by several threads. */
#ifndef SCOPEVM_C_COMPILER_H_
#define SCOPEVM_C_COMPILER_H_

#include <stddef.h>
#include <stdint.h>

#include "scopevm/c/export.h"
#include "scopevm/c/external.h"
#include "scopevm/c/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Options of compilations, and the diagnostics of the last one. */
typedef struct scopevm_compiler scopevm_compiler;
/** A module that was compiled. */
typedef struct scopevm_compiled scopevm_compiled;

/** The version of the loaded library, such as "0.1.0". */
SCOPEVM_API const char* scopevm_compiler_version(void);

/** Creates a compiler with the initial values of all options. */
SCOPEVM_API scopevm_status* scopevm_compiler_create(scopevm_compiler** out);
/** Releases a compiler. Modules that it compiled remain valid. */
SCOPEVM_API void scopevm_compiler_free(scopevm_compiler* compiler);

/** Sets an option, or adds a value to a list. Names and values are those of `scopevm compile`:
 * scopevm_compiler_set(c, "dim", "n=1..512"). Flags have the values "true" and "false". Fails with
 * SCOPEVM_INVALID_ARGUMENT for an unknown option (the message suggests the nearest name) or an
 * invalid value; with SCOPEVM_NOT_FOUND if the file of a SCOPEVM_OPTION_FILE cannot be read. The
 * option is then unchanged. An empty value resets a text, a list or a file to its initial value.
 * The compilation checks what depends on the model or on other options: names of outputs and
 * passes, places, contents of files, and contradictory bounds. */
SCOPEVM_API scopevm_status* scopevm_compiler_set(scopevm_compiler* compiler, const char* name,
                                                 const char* value);
/** Sets a SCOPEVM_OPTION_FILE, such as "machine", to the contents of a file. The bytes are copied.
 * `file_name` is the name of the file in messages. */
SCOPEVM_API scopevm_status* scopevm_compiler_set_contents(scopevm_compiler* compiler,
                                                          const char* name, const void* bytes,
                                                          size_t size, const char* file_name);
/** Adds a library that may compute parts of models: CompileOptions::external_libraries. The library
 * is not copied and must outlive the compiler. */
SCOPEVM_API scopevm_status* scopevm_compiler_add_library(scopevm_compiler* compiler,
                                                         const scopevm_external_library* library);

/** Sets the function that receives the progress: CompileOptions::progress. `stage` is valid during
 * the call. Calls are serialized but can come from any thread. A nonzero result cancels the
 * compilation, like scopevm_compiler_cancel(). NULL: none. */
SCOPEVM_API scopevm_status* scopevm_compiler_set_progress(
    scopevm_compiler* compiler,
    int (*progress)(void* context, const char* stage, int64_t done, int64_t total), void* context);
/** Sets the function that receives the text of the option "dump-after", in parts. A part is not
 * NUL-terminated, and is valid during the call. NULL: the text is discarded. */
SCOPEVM_API scopevm_status* scopevm_compiler_set_dump(scopevm_compiler* compiler,
                                                      void (*dump)(void* context, const char* text,
                                                                   size_t size),
                                                      void* context);

/** Kinds of options: NamedOption::Kind in scopevm/compile_options.h. */
enum scopevm_option_kinds {
  SCOPEVM_OPTION_FLAG = 0,   /**< "true" or "false" */
  SCOPEVM_OPTION_NUMBER = 1, /**< a decimal integer that is at least 0 */
  SCOPEVM_OPTION_TEXT = 2,   /**< any text */
  SCOPEVM_OPTION_CHOICE = 3, /**< one of the choices */
  SCOPEVM_OPTION_FILE = 4,   /**< the path of a file, whose contents are read */
  SCOPEVM_OPTION_LIST = 5,   /**< any text; each value is added to the earlier ones */
};

/** An option. Set struct_size before the call. The strings are constants. */
typedef struct scopevm_option_info {
  size_t struct_size;         /**< sizeof(scopevm_option_info) */
  const char* name;           /**< such as "image-layout" */
  int kind;                   /**< one of scopevm_option_kinds */
  const char* description;    /**< of the command's help */
  const char* initial;        /**< the value before it is set; empty: none */
  const char* const* choices; /**< the values of a SCOPEVM_OPTION_CHOICE */
  size_t choice_count;        /**< number of elements of `choices` */
} scopevm_option_info;

/** The number of options. */
SCOPEVM_API size_t scopevm_compiler_option_count(void);
/** Describes an option. Fails with SCOPEVM_NOT_FOUND if `index` is too large. */
SCOPEVM_API scopevm_status* scopevm_compiler_option(size_t index, scopevm_option_info* out);

/** Compiles a file: an ONNX model or MLIR assembly. Errors: those of compile() in
 * scopevm/compiler.h. */
SCOPEVM_API scopevm_status* scopevm_compile_file(scopevm_compiler* compiler, const char* path,
                                                 scopevm_compiled** out);
/** Compiles a model in memory, which is not changed and not used after the call. `path` is the name
 * in messages, and its folder has the files with external data. Its extension (.onnx or .mlir)
 * selects the format; otherwise the contents do. NULL: "model". */
SCOPEVM_API scopevm_status* scopevm_compile_bytes(scopevm_compiler* compiler, const void* bytes,
                                                  size_t size, const char* path,
                                                  scopevm_compiled** out);
/** Cancels the compilation that is running, which fails with SCOPEVM_CANCELLED: see
 * CompileOptions::stop_token. If none is running, the next one is cancelled, also if it fails for
 * another reason. Thread-safe. No effect for NULL. */
SCOPEVM_API void scopevm_compiler_cancel(scopevm_compiler* compiler);

/** Severities of diagnostics. */
enum scopevm_diagnostic_severities {
  SCOPEVM_DIAGNOSTIC_WARNING = 0, /**< the compilation continued */
  SCOPEVM_DIAGNOSTIC_ERROR = 1,   /**< the compilation failed */
};

/** A warning or an error: Diagnostic in scopevm/compiler.h. Set struct_size before the call. */
typedef struct scopevm_diagnostic_info {
  size_t struct_size; /**< sizeof(scopevm_diagnostic_info) */
  int severity;       /**< one of scopevm_diagnostic_severities */
  const char* file;   /**< name of the file; empty: unknown */
  int line;           /**< in MLIR assembly, from 1; 0: unknown */
  int column;         /**< in MLIR assembly, from 1; 0: unknown */
  const char* node;   /**< node of the model; empty: unknown */
  const char* text;   /**< the message without the file and the line */
} scopevm_diagnostic_info;

/** The number of diagnostics of the last compilation; 0 if `compiler` is NULL. */
SCOPEVM_API size_t scopevm_compiler_diagnostic_count(const scopevm_compiler* compiler);
/** Describes a diagnostic of the last compilation. The strings are valid until the next one. Fails
 * with SCOPEVM_NOT_FOUND if `index` is too large. */
SCOPEVM_API scopevm_status* scopevm_compiler_diagnostic(const scopevm_compiler* compiler,
                                                        size_t index, scopevm_diagnostic_info* out);

/** The bytes of the module, for scopevm_module_load_memory(): aligned to 64 bytes, and valid until
 * scopevm_compiled_free(). NULL for NULL. */
SCOPEVM_API const void* scopevm_compiled_bytes(const scopevm_compiled* compiled);
/** The number of bytes; 0 for NULL. */
SCOPEVM_API size_t scopevm_compiled_size(const scopevm_compiled* compiled);
/** 1 if the module is from the folder of the option "cache", else 0. */
SCOPEVM_API int scopevm_compiled_is_cached(const scopevm_compiled* compiled);
/** Writes the module to a file. A regular file is replaced atomically. Fails with
 * SCOPEVM_INVALID_ARGUMENT if it cannot be written. */
SCOPEVM_API scopevm_status* scopevm_compiled_write(const scopevm_compiled* compiled,
                                                   const char* path);
/** Releases the module. */
SCOPEVM_API void scopevm_compiled_free(scopevm_compiled* compiled);

#ifdef __cplusplus
}
#endif

#endif /* SCOPEVM_C_COMPILER_H_ */
