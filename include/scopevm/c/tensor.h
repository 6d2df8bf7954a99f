/** @file
 * Tensors of the C API: typed, compact, row-major views of storages that calls and states share
 * with the program. Programs that only borrow and export tensors use DLPack (scopevm/c/dlpack.h)
 * instead; see scopevm/scopevm.h and scopevm/tensor.h. */
#ifndef SCOPEVM_C_TENSOR_H_
#define SCOPEVM_C_TENSOR_H_

#include <stddef.h>
#include <stdint.h>

#include "scopevm/c/dlpack.h"
#include "scopevm/c/export.h"
#include "scopevm/c/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Maximum number of dims of a tensor. */
#define SCOPEVM_MAX_RANK 16

/** Element types: DType in scopevm/dtype.h. */
enum scopevm_dtypes {
  SCOPEVM_BOOL = 0,  /**< one byte, 0 or 1 */
  SCOPEVM_I8 = 1,    /**< signed integer of 8 bits */
  SCOPEVM_I16 = 2,   /**< of 16 bits */
  SCOPEVM_I32 = 3,   /**< of 32 bits */
  SCOPEVM_I64 = 4,   /**< of 64 bits */
  SCOPEVM_U8 = 5,    /**< unsigned integer of 8 bits */
  SCOPEVM_U16 = 6,   /**< of 16 bits */
  SCOPEVM_U32 = 7,   /**< of 32 bits */
  SCOPEVM_U64 = 8,   /**< of 64 bits */
  SCOPEVM_F16 = 9,   /**< IEEE binary16 */
  SCOPEVM_BF16 = 10, /**< bfloat16 */
  SCOPEVM_F32 = 11,  /**< IEEE binary32 */
  SCOPEVM_F64 = 12,  /**< IEEE binary64 */
  SCOPEVM_STR = 13,  /**< strings */
  SCOPEVM_I4 = 14,   /**< signed integer of 4 bits; two share a byte, the first in its low bits */
  SCOPEVM_U4 = 15,   /**< unsigned integer of 4 bits */
  SCOPEVM_I2 = 16,   /**< signed integer of 2 bits; four share a byte */
  SCOPEVM_U2 = 17,   /**< unsigned integer of 2 bits */
  SCOPEVM_F4E2M1FN = 18,   /**< float of 4 bits; two share a byte */
  SCOPEVM_F8E4M3FN = 19,   /**< float of 8 bits, no infinities */
  SCOPEVM_F8E4M3FNUZ = 20, /**< float of 8 bits, no infinities and one zero */
  SCOPEVM_F8E5M2 = 21,     /**< float of 8 bits */
  SCOPEVM_F8E5M2FNUZ = 22, /**< float of 8 bits, no infinities and one zero */
  SCOPEVM_F8E8M0FNU = 23,  /**< power of two of 8 bits */
};

/** The name of an element type, such as "f32"; NULL if there is no such type. */
SCOPEVM_API const char* scopevm_dtype_name(int dtype);
/** Bytes of an element; 0 for strings, for types whose elements share bytes, and if there is no
 * such type. */
SCOPEVM_API size_t scopevm_dtype_bytes(int dtype);
/** Bits of an element: 8 for SCOPEVM_BOOL, 4 for SCOPEVM_I4; 0 for strings and if there is no such
 * type. A tensor has the bytes that its elements fill, and the last one can have unused bits. */
SCOPEVM_API size_t scopevm_dtype_bits(int dtype);

/** The bytes of tensors, with a reference count. */
typedef struct scopevm_storage scopevm_storage;

/** A tensor: one reference to its storage, the address and the type of its elements. A copy of the
 * struct needs a reference of its own: scopevm_storage_retain(). `data` is NULL in an empty tensor.
 * The struct has no struct_size, because arrays of tensors are shared with the library: it does not
 * change within a SONAME. */
typedef struct scopevm_tensor {
  void* data; /**< address of the first element; NULL in an empty tensor only */
  /** Owns the bytes, with one reference of this tensor; NULL: they are borrowed. */
  scopevm_storage* storage;
  int64_t bytes;                  /**< size of the contents in bytes */
  uint8_t dtype;                  /**< one of scopevm_dtypes */
  uint8_t is_read_only;           /**< 1: the tensor cannot be an output, else 0 */
  uint8_t rank;                   /**< number of dims, at most SCOPEVM_MAX_RANK */
  uint8_t reserved[5];            /**< 0 */
  int64_t dims[SCOPEVM_MAX_RANK]; /**< the first `rank` are the dims */
} scopevm_tensor;

/** Adds a reference. `storage` can be NULL. Thread-safe, like scopevm_storage_release(). */
SCOPEVM_API void scopevm_storage_retain(scopevm_storage* storage);
/** Releases a reference; the last one releases the bytes. `storage` can be NULL. */
SCOPEVM_API void scopevm_storage_release(scopevm_storage* storage);

/** Allocates a tensor with uninitialised, 64-byte aligned elements: Tensor::allocate in
 * scopevm/tensor.h. The caller releases the storage of *out. */
SCOPEVM_API scopevm_status* scopevm_tensor_allocate(int dtype, const int64_t* dims, size_t rank,
                                                    scopevm_tensor* out);
/** A tensor of the caller's bytes: Tensor::borrow. Nonzero `is_read_only`: the tensor cannot be an
 * output. */
SCOPEVM_API scopevm_status* scopevm_tensor_borrow(void* data, int dtype, const int64_t* dims,
                                                  size_t rank, int is_read_only,
                                                  scopevm_tensor* out);
/** Like scopevm_tensor_borrow(), with a storage: release(context) is called once, by the thread
 * that releases the last reference. `release` can be NULL. On failure it is not called. */
SCOPEVM_API scopevm_status* scopevm_tensor_adopt(void* data, int dtype, const int64_t* dims,
                                                 size_t rank, void (*release)(void* context),
                                                 void* context, scopevm_tensor* out);

/** A string tensor. `strings` has one string per element, in row-major order. `sizes` has the size
 * of each string in bytes. It is NULL if the strings are NUL-terminated. */
typedef struct scopevm_strings {
  const char* const* strings; /**< one per element */
  const size_t* sizes;        /**< in bytes, or NULL */
  const int64_t* dims;        /**< `rank` dims */
  size_t rank;                /**< number of dims */
} scopevm_strings;

/** A read-only string tensor with copies of `count` strings, whose number must be the product of
 * the dims. */
SCOPEVM_API scopevm_status* scopevm_tensor_from_strings(const scopevm_strings* strings,
                                                        size_t count, scopevm_tensor* out);
/** The string at row-major index `position` of a string tensor: *out_size bytes, not
 * NUL-terminated, valid as long as the storage. Fails with SCOPEVM_NOT_FOUND if there is no such
 * string. */
SCOPEVM_API scopevm_status* scopevm_tensor_string(const scopevm_tensor* tensor, size_t position,
                                                  const char** out_text, size_t* out_size);

/** @{
 * Takes ownership of `managed` on success: Tensor::from_dlpack. */
SCOPEVM_API scopevm_status* scopevm_tensor_from_dlpack(DLManagedTensor* managed,
                                                       scopevm_tensor* out);
SCOPEVM_API scopevm_status* scopevm_tensor_from_dlpack_versioned(DLManagedTensorVersioned* managed,
                                                                 scopevm_tensor* out);
/** @} */
/** @{
 * A managed tensor that shares the storage; the receiver calls its deleter. Fails for string
 * tensors. */
SCOPEVM_API scopevm_status* scopevm_tensor_to_dlpack(const scopevm_tensor* tensor,
                                                     DLManagedTensor** out);
SCOPEVM_API scopevm_status* scopevm_tensor_to_dlpack_versioned(const scopevm_tensor* tensor,
                                                               DLManagedTensorVersioned** out);
/** @} */

#ifdef __cplusplus
}
#endif

#endif /* SCOPEVM_C_TENSOR_H_ */
