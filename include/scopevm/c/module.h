/** @file
 * Modules of the C API: their signature and the memory of their calls; see scopevm/scopevm.h. */
#ifndef SCOPEVM_C_MODULE_H_
#define SCOPEVM_C_MODULE_H_

#include <stddef.h>
#include <stdint.h>

#include "scopevm/c/export.h"
#include "scopevm/c/status.h"
#include "scopevm/c/tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A loaded module. */
typedef struct scopevm_module scopevm_module;

/** How a module is loaded: LoadOptions in scopevm/module.h. Initialise with
 * {sizeof(scopevm_load_options)}. */
typedef struct scopevm_load_options {
  size_t struct_size; /**< sizeof(scopevm_load_options) */
  /** If there are public keys, only a module with a valid signature by one of them is loaded. Each
   * is the text of a file of a public key, or its line of base64 alone (docs/security.md). */
  const char* const* public_keys;
  size_t public_key_count; /**< number of elements of `public_keys` */
  /** The text of the file of the signature. NULL: scopevm_module_load() reads the file with the
   * path of the module and the suffix ".sig". */
  const char* signature;
  /** The folder of the file of weights, for a module whose weights are in a file of their own.
   * NULL: scopevm_module_load() searches the folder of the module, and the other functions need
   * `weights`. */
  const char* weights_folder;
  /** The contents of the file of weights. NULL: the file is mapped. The bytes are copied, except by
   * scopevm_module_load_memory(): it uses them like the bytes of the module, until `release`. */
  const void* weights;
  size_t weights_size; /**< size of `weights` in bytes */
  /** The rank of this process in a job: LoadOptions::rank. NULL: the weights of all ranks. */
  const int* rank;
} scopevm_load_options;

/** Maps, validates and verifies a module file. `options` can be NULL. */
SCOPEVM_API scopevm_status* scopevm_module_load(const char* path,
                                                const scopevm_load_options* options,
                                                scopevm_module** out);
/** Loads a module from memory. The bytes are copied. `options` can be NULL. */
SCOPEVM_API scopevm_status* scopevm_module_load_bytes(const void* bytes, size_t size,
                                                      const scopevm_load_options* options,
                                                      scopevm_module** out);
/** Loads a module from memory without a copy. `bytes` must be aligned to 64 bytes and must not
 * change. If `release` is not NULL, release(context) is called once, when the module and everything
 * that was created from it has been released. On failure it is not called. */
SCOPEVM_API scopevm_status* scopevm_module_load_memory(const void* bytes, size_t size,
                                                       void (*release)(void* context),
                                                       void* context,
                                                       const scopevm_load_options* options,
                                                       scopevm_module** out);
/** Releases the handle. Sessions created from the module remain valid. */
SCOPEVM_API void scopevm_module_free(scopevm_module* module);

/** The number of inputs; 0 if `module` is NULL. */
SCOPEVM_API size_t scopevm_module_input_count(const scopevm_module* module);
/** The number of outputs; 0 if `module` is NULL. */
SCOPEVM_API size_t scopevm_module_output_count(const scopevm_module* module);
/** The number of named dimensions of the inputs; 0 if `module` is NULL. */
SCOPEVM_API size_t scopevm_module_dimension_count(const scopevm_module* module);

/** Kinds of inputs and outputs: ValueKind in scopevm/value_kind.h. */
enum scopevm_value_kinds {
  SCOPEVM_TENSOR = 0,            /**< a tensor */
  SCOPEVM_SEQUENCE = 1,          /**< a sequence of tensors */
  SCOPEVM_OPTIONAL = 2,          /**< a tensor or no value */
  SCOPEVM_OPTIONAL_SEQUENCE = 3, /**< a sequence or no value */
};

/** An input or output: TensorSignature in scopevm/module.h. Set struct_size before the call. */
typedef struct scopevm_value_info {
  size_t struct_size; /**< sizeof(scopevm_value_info) */
  const char* name;   /**< the name in the model */
  int kind;           /**< one of scopevm_value_kinds */
  int dtype;          /**< one of scopevm_dtypes; of the elements of a sequence or optional */
  size_t rank;        /**< number of elements of `dims` */
  /** One per axis: "48", the name of a dimension, or a formula over names of dimensions. "?": can
   * differ between the elements of a sequence. A single "...": any rank. */
  const char* const* dims;
  int has_default; /**< 1: an input that has its default in calls that do not set it; else 0 */
  /** Of an input: the index of the output that is its value in the next call of a stream, if the
   * module declares one (option "state" of the compiler); else -1. */
  int64_t state_output;
} scopevm_value_info;

/** Describes an input. Fails with SCOPEVM_NOT_FOUND if there is no such input. Pointers are valid
 * as long as the module. */
SCOPEVM_API scopevm_status* scopevm_module_input(const scopevm_module* module, size_t index,
                                                 scopevm_value_info* out);
/** Like scopevm_module_input(), for an output. */
SCOPEVM_API scopevm_status* scopevm_module_output(const scopevm_module* module, size_t index,
                                                  scopevm_value_info* out);
/** The index of the input `name`. Fails with SCOPEVM_NOT_FOUND, and suggests the nearest name. */
SCOPEVM_API scopevm_status* scopevm_module_find_input(const scopevm_module* module,
                                                      const char* name, size_t* out);
/** Like scopevm_module_find_input(), for an output. */
SCOPEVM_API scopevm_status* scopevm_module_find_output(const scopevm_module* module,
                                                       const char* name, size_t* out);

/** A named dimension of the inputs and its bounds. Set struct_size before the call. */
typedef struct scopevm_dimension_info {
  size_t struct_size;  /**< sizeof(scopevm_dimension_info) */
  const char* name;    /**< the name in the model */
  int64_t min;         /**< smallest size */
  int64_t max;         /**< largest size */
  int64_t multiple_of; /**< required factor of the size, at least 1 */
  int64_t is_batch;    /**< 1 if requests can be joined along the dimension
                            (DimensionSignature::is_batch in scopevm/module.h), else 0 */
} scopevm_dimension_info;

/** Describes a dimension. Fails with SCOPEVM_NOT_FOUND if there is no such dimension. */
SCOPEVM_API scopevm_status* scopevm_module_dimension(const scopevm_module* module, size_t index,
                                                     scopevm_dimension_info* out);

/** The dims of input `index` if dimension names[i] has the value values[i]: Module::input_shape in
 * scopevm/module.h. `capacity`: number of elements of `out_dims`. *out_rank is set, even if
 * `capacity` is smaller, which is an error. */
SCOPEVM_API scopevm_status* scopevm_module_input_shape(const scopevm_module* module, size_t index,
                                                       const char* const* names,
                                                       const int64_t* values, size_t count,
                                                       int64_t* out_dims, size_t capacity,
                                                       size_t* out_rank);

/** The number of memory scopes of the module's devices; 0 if `module` is NULL. */
SCOPEVM_API size_t scopevm_module_scope_count(const scopevm_module* module);
/** The name of the device of a memory scope; NULL if `index` is out of range or `module` is NULL.
 */
SCOPEVM_API const char* scopevm_module_scope_device(const scopevm_module* module, size_t index);
/** Like scopevm_module_scope_device(): the name of the scope, such as "global.workspace". */
SCOPEVM_API const char* scopevm_module_scope_name(const scopevm_module* module, size_t index);
/** Like scopevm_module_scope_device(): the process of a job that has the device, from 0; 0 if there
 * is no such scope. A job has as many processes as there are ranks. */
SCOPEVM_API int scopevm_module_scope_rank(const scopevm_module* module, size_t index);

/** The bytes of a call in each memory scope, by native code: see Module::bound. `dims`: `dim_count`
 * values, of all dimensions in the order of the model. `out_bytes`: `scope_count` elements. */
SCOPEVM_API scopevm_status* scopevm_module_bound(const scopevm_module* module, const int64_t* dims,
                                                 size_t dim_count, int threads, int64_t* out_bytes,
                                                 size_t scope_count);

/** The bytes, results included, that a call allocates in memory scope `scope`, summed over all
 * devices: see Module::memory_bound in scopevm/module.h. Dimension names[i] has the value values[i]
 * (`count` dimensions); the session has `threads` threads. Fails with SCOPEVM_NOT_FOUND if no
 * device has the scope. */
SCOPEVM_API scopevm_status* scopevm_module_memory_bound(const scopevm_module* module,
                                                        const char* const* names,
                                                        const int64_t* values, size_t count,
                                                        int threads, const char* scope,
                                                        int64_t* out_bytes);
/** The largest scopevm_module_memory_bound() over all values of the dimensions that `names` does
 * not contain, within their bounds: see Module::largest_bound. No request needs more. */
SCOPEVM_API scopevm_status* scopevm_module_largest_bound(const scopevm_module* module,
                                                         const char* const* names,
                                                         const int64_t* values, size_t count,
                                                         int threads, const char* scope,
                                                         int64_t* out_bytes);

/** The memory of a call, entry by entry. */
typedef struct scopevm_bound scopevm_bound;

/** Module::memory_bound() in scopevm/module.h; arguments as in scopevm_module_memory_bound(). */
SCOPEVM_API scopevm_status* scopevm_bound_create(const scopevm_module* module,
                                                 const char* const* names, const int64_t* values,
                                                 size_t count, int threads, scopevm_bound** out);
/** Module::largest_bound() in scopevm/module.h: of the values from least[i] to most[i] of dimension
 * names[i] (`count` dimensions). A dimension that is not in `names` has its bounds in the module.
 */
SCOPEVM_API scopevm_status* scopevm_bound_create_largest(const scopevm_module* module,
                                                         const char* const* names,
                                                         const int64_t* least, const int64_t* most,
                                                         size_t count, int threads,
                                                         scopevm_bound** out);
/** Releases a bound. */
SCOPEVM_API void scopevm_bound_free(scopevm_bound* bound);
/** The function that a call runs: "main" or a variant; NULL for NULL. */
SCOPEVM_API const char* scopevm_bound_function(const scopevm_bound* bound);
/** The number of entries; 0 for NULL. */
SCOPEVM_API size_t scopevm_bound_line_count(const scopevm_bound* bound);
/** The number of memory scopes with entries; 0 for NULL. */
SCOPEVM_API size_t scopevm_bound_scope_count(const scopevm_bound* bound);
/** The number of names that the formulas of the entries use; 0 for NULL. */
SCOPEVM_API size_t scopevm_bound_definition_count(const scopevm_bound* bound);

/** One entry: MemoryLine in scopevm/module.h. Set struct_size before the call. */
typedef struct scopevm_bound_line_info {
  size_t struct_size;        /**< sizeof(scopevm_bound_line_info) */
  const char* device;        /**< name of the device in the module */
  const char* scope;         /**< memory scope */
  const char* what;          /**< "workspace", the name of a result, "calls", "lists", ... */
  int is_result;             /**< 1 for a result of the call, else 0 */
  int depends_on_data;       /**< 1 if the size is known only during a call; `bytes` is then 0 */
  int64_t bytes;             /**< size of the entry */
  int64_t lower_bound_bytes; /**< maximum sum of the bytes that are live simultaneously */
  const char* formula;       /**< `bytes` over dimensions and definitions */
} scopevm_bound_line_info;

/** Describes an entry. Fails with SCOPEVM_NOT_FOUND if there is no such entry. */
SCOPEVM_API scopevm_status* scopevm_bound_line(const scopevm_bound* bound, size_t index,
                                               scopevm_bound_line_info* out);
/** The sum of the entries in one memory scope of one device: ScopeBound in scopevm/module.h. Set
 * struct_size before the call. */
typedef struct scopevm_bound_scope_info {
  size_t struct_size;        /**< sizeof(scopevm_bound_scope_info) */
  const char* device;        /**< name of the device in the module */
  const char* scope;         /**< memory scope */
  int64_t bytes;             /**< sum of the bytes of the entries */
  int64_t lower_bound_bytes; /**< sum of the lower bounds of the entries */
} scopevm_bound_scope_info;

/** Describes a memory scope. Fails with SCOPEVM_NOT_FOUND if there is no such scope. */
SCOPEVM_API scopevm_status* scopevm_bound_scope(const scopevm_bound* bound, size_t index,
                                                scopevm_bound_scope_info* out);
/** A name that formulas use, and its formula. Fails with SCOPEVM_NOT_FOUND if there is no such
 * definition. */
SCOPEVM_API scopevm_status* scopevm_bound_definition(const scopevm_bound* bound, size_t index,
                                                     const char** out_name,
                                                     const char** out_formula);

#ifdef __cplusplus
}
#endif

#endif /* SCOPEVM_C_MODULE_H_ */
