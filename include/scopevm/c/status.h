/** @file
 * Errors and versions of the C API; see scopevm/scopevm.h. */
#ifndef SCOPEVM_C_STATUS_H_
#define SCOPEVM_C_STATUS_H_

#include <stddef.h>
#include <stdint.h>

#include "scopevm/c/export.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The API version that these headers describe. */
#define SCOPEVM_API_VERSION 7

/** An error: a status code and a message. */
typedef struct scopevm_status scopevm_status;

/** The codes of errors, in bands of ten: 1x invalid input, 2x unsupported, 3x resources,
 * 4x cancellation, 9x a defect in scopevm. Later versions can add codes to a band. */
enum scopevm_status_codes {
  SCOPEVM_OK = 0,                 /**< no error */
  SCOPEVM_INVALID_ARGUMENT = 10,  /**< invalid argument or input: name, rank, dim, type */
  SCOPEVM_INVALID_MODEL = 11,     /**< malformed model or module file */
  SCOPEVM_NOT_FOUND = 12,         /**< no such file, function, input or device */
  SCOPEVM_UNSUPPORTED = 20,       /**< valid, but not implemented */
  SCOPEVM_OUT_OF_MEMORY = 30,     /**< an allocation failed */
  SCOPEVM_RESOURCE_LIMIT = 31,    /**< a limit of the user, the machine or the VM is exceeded */
  SCOPEVM_DEVICE = 32,            /**< a device, its driver or a system call failed */
  SCOPEVM_CANCELLED = 40,         /**< the caller cancelled the call */
  SCOPEVM_DEADLINE_EXCEEDED = 41, /**< the call passed its deadline */
  SCOPEVM_INTERNAL = 90,          /**< a defect in scopevm */
};

/** The API version that the loaded library implements. */
SCOPEVM_API int scopevm_api_version(void);
/** The version of the loaded library, such as "0.1.0". */
SCOPEVM_API const char* scopevm_version(void);
/** What the loaded library was built with: names, separated by spaces, such as "opencl". */
SCOPEVM_API const char* scopevm_features(void);

/** The status code, one of scopevm_status_codes; 0 if `status` is NULL. */
SCOPEVM_API int scopevm_status_code(const scopevm_status* status);
/** The message, NUL-terminated; empty if `status` is NULL. */
SCOPEVM_API const char* scopevm_status_message(const scopevm_status* status);
/** Releases a status. `status` can be NULL. */
SCOPEVM_API void scopevm_status_free(scopevm_status* status);

/** What an error is about, for programs: ErrorFields in scopevm/status.h. Set struct_size to
 * sizeof(scopevm_error_fields) before the call. Strings are valid as long as the status. */
typedef struct scopevm_error_fields {
  size_t struct_size;   /**< sizeof(scopevm_error_fields) */
  const char* subject;  /**< name of the input, output or dimension; empty: unknown */
  int axis;             /**< axis of the input or output; -1: none */
  const char* expected; /**< "f32[n, 48]", "at most 16"; can be empty */
  const char* given;    /**< "f32[3, 40]", "17"; can be empty */
} scopevm_error_fields;

/** Reads the fields of an error. Returns 1, or 0 if the error has none, or if an argument is NULL
 * or out->struct_size is too small. */
SCOPEVM_API int scopevm_status_fields(const scopevm_status* status, scopevm_error_fields* out);

/** Creates a status, which a callback returns to report an error; the library then owns it. `code`
 * is one of scopevm_status_codes, except SCOPEVM_OK; other codes become SCOPEVM_INTERNAL. NULL
 * `message`: empty. `fields` can be NULL, and so can its strings. Never returns NULL: without
 * memory, the result is a status with SCOPEVM_OUT_OF_MEMORY. */
SCOPEVM_API scopevm_status* scopevm_status_create(int code, const char* message,
                                                  const scopevm_error_fields* fields);

#ifdef __cplusplus
}
#endif

#endif /* SCOPEVM_C_STATUS_H_ */
