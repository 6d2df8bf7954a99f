// Frames and the memory that contains them. A FrameStack is used by one call at a time. Later calls
// reuse its memory, so that most calls allocate no memory for frames.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "runtime/memory/storage.h"
#include "scopevm/dtype.h"
#include "scopevm/status.h"
#include "vm/isa/field_values.h"
#include "vm/load/loaded_module.h"

namespace scopevm::vm {

struct Frame {
  const LoadedFunction* function = nullptr;
  Register* registers = nullptr;
  int64_t* dims = nullptr;  // dims_per_register for each register
  int64_t* slots = nullptr;
  void** buffers = nullptr;
  int64_t* shape_dims = nullptr;
  std::byte* stack = nullptr;
  size_t dims_per_register = 0;      // of the layout
  const uint32_t* resume = nullptr;  // the caller's return address; null in the entry function
  isa::RegisterList results;         // the caller's registers that receive the results

  int64_t* dims_of(uint32_t index) const { return dims + index * dims_per_register; }
};

class FrameStack {
 public:
  // Limit on the total size of a call's frames in bytes. It bounds the memory of a malicious module
  // and is far above the needs of real models.
  static constexpr size_t kMaxBytes = size_t{256} << 20;

  // Pushes a frame with empty registers and uninitialised slots and stack. References to top() are
  // valid until the next push(). The memory of a frame is valid until its pop(). Errors:
  // kResourceLimit, kOutOfMemory. If it fails or throws, no frame is pushed.
  Status push(const LoadedFunction& function);
  void pop();
  Frame& top() { return frames_.back(); }
  // REQUIRES: depth() > 1.
  const Frame& below_top() const { return frames_[frames_.size() - 2]; }
  size_t depth() const { return frames_.size(); }
  // The frame of the active function `level`; 0 is the entry function. REQUIRES: level < depth().
  const Frame& at(size_t level) const { return frames_[level]; }
  // Whether the byte is in frame memory.
  bool holds(const std::byte* byte) const;
  // The call chain for messages: `main > f > g`. The middle of a long chain is omitted.
  std::string chain() const;

 private:
  struct FreeChunk {
    void operator()(std::byte* bytes) const {
      ::operator delete(bytes, std::align_val_t{kFrameAlignment});
    }
  };
  struct Chunk {
    std::unique_ptr<std::byte, FreeChunk> bytes;
    size_t size = 0;
    size_t used = 0;

    // REQUIRES: size - used >= bytes.
    std::byte* take(size_t count) {
      std::byte* taken = bytes.get() + used;
      used += count;
      return taken;
    }
  };
  // Null if out of memory.
  std::byte* take(size_t bytes) {
    if (!chunks_.empty()) [[likely]]
      if (Chunk& chunk = chunks_[chunk_]; chunk.size - chunk.used >= bytes) [[likely]]
        return chunk.take(bytes);
    return take_from_next_chunk(bytes);
  }
  std::byte* take_from_next_chunk(size_t bytes);

  size_t used_ = 0;
  std::vector<Chunk> chunks_;
  size_t chunk_ = 0;  // index of the current chunk
  std::vector<Frame> frames_;
};

}  // namespace scopevm::vm
