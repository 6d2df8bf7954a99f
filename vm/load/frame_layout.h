// What an activation of a function consists of, and where its parts lie in one block of memory.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/memory/storage.h"
#include "scopevm/dtype.h"

namespace scopevm::vm {

// Empty, a storage, or a tensor. A tensor's dims lie in the frame, at its register's place.
struct Register {
  std::byte* data;            // first byte
  runtime::Storage* storage;  // counted in call_references; null: empty, an input or a constant
  int64_t bytes;
  DType dtype;
  uint8_t rank;
};

// What an activation of a function needs in memory, in one block: registers, the dims of each
// register, slots, the buffer addresses of a launch, the dims handed to a shape function, and what
// the code takes of stacks. A frame begins and ends at a multiple of kFrameAlignment.
inline constexpr size_t kFrameAlignment = 64;
constexpr size_t align_in_frame(size_t bytes) {
  return (bytes + kFrameAlignment - 1) / kFrameAlignment * kFrameAlignment;
}

struct FrameLayout {
  uint32_t max_rank = 0;
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
