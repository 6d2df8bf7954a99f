// Conversion of DLPack element types and tensors.
#pragma once

#include <optional>

#include "scopevm/c/dlpack.h"
#include "scopevm/tensor.h"

namespace scopevm::runtime {

struct DLPackType {
  DType dtype;
  DLDataType dl;
};
inline constexpr DLPackType kDLPackTypes[] = {
    {DType::kBool, {kDLBool, 8, 1}},
    {DType::kI8, {kDLInt, 8, 1}},
    {DType::kI16, {kDLInt, 16, 1}},
    {DType::kI32, {kDLInt, 32, 1}},
    {DType::kI64, {kDLInt, 64, 1}},
    {DType::kU8, {kDLUInt, 8, 1}},
    {DType::kU16, {kDLUInt, 16, 1}},
    {DType::kU32, {kDLUInt, 32, 1}},
    {DType::kU64, {kDLUInt, 64, 1}},
    {DType::kF16, {kDLFloat, 16, 1}},
    {DType::kBF16, {kDLBfloat, 16, 1}},
    {DType::kF32, {kDLFloat, 32, 1}},
    {DType::kF64, {kDLFloat, 64, 1}},
    {DType::kI4, {kDLInt, 4, 1}},
    {DType::kU4, {kDLUInt, 4, 1}},
    {DType::kI2, {kDLInt, 2, 1}},
    {DType::kU2, {kDLUInt, 2, 1}},
    // The codes are those of DLPack 1.1, which older headers lack: kDLFloat4_e2m1fn,
    // kDLFloat8_e4m3fn, kDLFloat8_e4m3fnuz, kDLFloat8_e5m2, kDLFloat8_e5m2fnuz, kDLFloat8_e8m0fnu.
    {DType::kF4E2M1Fn, {17, 4, 1}},
    {DType::kF8E4M3Fn, {10, 8, 1}},
    {DType::kF8E4M3Fnuz, {11, 8, 1}},
    {DType::kF8E5M2, {12, 8, 1}},
    {DType::kF8E5M2Fnuz, {13, 8, 1}},
    {DType::kF8E8M0Fnu, {14, 8, 1}},
};

// The flag of DLPack 1.2 for elements of less than 8 bits that do not share bytes,
// DLPACK_FLAG_BITMASK_IS_SUBBYTE_TYPE_PADDED.
inline constexpr uint64_t kDLPackPadded = 1u << 2;

// Returns the corresponding element type, or nothing if there is none.
constexpr std::optional<DType> from_dlpack_type(DLDataType type) {
  for (const DLPackType& pair : kDLPackTypes)
    if (pair.dl.code == type.code && pair.dl.bits == type.bits && pair.dl.lanes == type.lanes)
      return pair.dtype;
  return std::nullopt;
}

// REQUIRES: `dtype` is not kStr.
constexpr DLDataType to_dlpack_type(DType dtype) {
  DLDataType type{};
  for (const DLPackType& pair : kDLPackTypes)
    if (pair.dtype == dtype) type = pair.dl;
  return type;
}

// Creates a tensor that borrows the bytes of `tensor`. Errors: those of Tensor::from_dlpack, and
// kUnsupported (the tensor has strides).
Result<Tensor> borrow_dlpack(const DLTensor& tensor);

// Checks the major version, which must be known before other members are read. Errors:
// kUnsupported.
Status check_dlpack_version(DLPackVersion version);

// Like borrow_dlpack(), but copies the elements of a tensor with strides. *copied_bytes is set to
// the size of the copy, or 0.
Result<Tensor> read_dlpack(const DLTensor& tensor, int64_t* copied_bytes);

}  // namespace scopevm::runtime
