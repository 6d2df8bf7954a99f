// Tensors of the small types (runtime/tensor/small_type.h).
#pragma once

#include <cstdint>
#include <span>

#include "scopevm/tensor.h"

namespace scopevm::tool {

// The number at a row-major index. REQUIRES: the type of the tensor is small.
double small_element(const Tensor& tensor, int64_t index);

// A tensor of a small type with the elements of these bits. Errors: kInvalidArgument (the number of
// patterns is not that of the dims), kOutOfMemory. REQUIRES: `dtype` is small, and each pattern has
// at most its bits.
Result<Tensor> small_tensor(DType dtype, std::span<const int64_t> dims,
                            std::span<const unsigned> patterns);

// The tensor with elements of the carrier. REQUIRES: its type is small. Errors: kOutOfMemory.
Result<Tensor> widened(const Tensor& tensor);

// One byte for each element: integers as i8 or u8, floats as the u8 of their bits. REQUIRES: the
// type of the tensor is small. Errors: kOutOfMemory.
Result<Tensor> small_to_bytes(const Tensor& tensor);

// The inverse of widened() and small_to_bytes(), by the element type of `given`; a tensor of
// another type is returned as it is. Errors: kInvalidArgument (an element has no equal in `to`),
// kOutOfMemory. REQUIRES: `to` is small.
Result<Tensor> to_small(const Tensor& given, DType to);

}  // namespace scopevm::tool
