// The layout of a frame, the memory block of one function activation.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/memory/storage.h"
#include "scopevm/dtype.h"

namespace scopevm::vm {

// A register: empty, a storage, a tensor, a list or a closure. The dims of a tensor are stored in
// the frame's dims array, at the register's index.
struct Register {
  std::byte* data;  // first byte of the value
  // The owner of `data`. The register counts as one of its call_references. Null for an empty
  // register, and if the bytes belong to an input tensor, a constant or the frame.
  runtime::Storage* storage;
  int64_t bytes;
  DType dtype;
  uint8_t rank;
};

// A frame contains, in this order:
//   the registers
//   the dims of each register
//   the slots
//   the buffer addresses of a launch
//   the dims passed to a shape function
//   the allocations from stack pools
// Its address and size are multiples of kFrameAlignment.
inline constexpr size_t kFrameAlignment = 64;
constexpr size_t align_in_frame(size_t bytes) {
  return (bytes + kFrameAlignment - 1) / kFrameAlignment * kFrameAlignment;
}

// A move copies dims in blocks of this number.
inline constexpr uint32_t kDimBlock = 4;

struct FrameLayout {
  uint32_t max_rank = 0;
  uint32_t dims_per_register = 0;  // max_rank, rounded up to a multiple of kDimBlock
  uint32_t max_buffers = 0;
  uint32_t max_shape_dims = 0;
  size_t dims_offset = 0;
  size_t slots_offset = 0;
  size_t buffers_offset = 0;
  size_t shape_dims_offset = 0;
  size_t stack_offset = 0;
  size_t bytes = 0;
};

}  // namespace scopevm::vm
