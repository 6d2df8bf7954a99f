// An element of an integer or bool tensor in host memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "vm/load/frame_layout.h"

namespace scopevm::vm {

template <typename T>
int64_t element_as(const std::byte* at) {
  T element;
  std::memcpy(&element, at, sizeof element);
  return static_cast<int64_t>(element);
}

inline int64_t element(const Register& of, int64_t index) {
  const std::byte* at = of.data + index * byte_size(of.dtype);
  switch (of.dtype) {
    case DType::kI8:
      return element_as<int8_t>(at);
    case DType::kI16:
      return element_as<int16_t>(at);
    case DType::kU16:
      return element_as<uint16_t>(at);
    case DType::kI32:
      return element_as<int32_t>(at);
    case DType::kU32:
      return element_as<uint32_t>(at);
    case DType::kI64:
    case DType::kU64:
      return element_as<int64_t>(at);
    default:
      return element_as<uint8_t>(at);
  }
}

}  // namespace scopevm::vm
