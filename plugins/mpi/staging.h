// Messages on their way to another process of the machine. The receiver could read a message where
// the sender has it (window.h), but afterwards each store of a kernel to that memory would first
// take the line from the cache of the other core: 1 MiB takes 120 us instead of 25 on two cores of
// an AMD EPYC (family 26). A copy for the receiver, in memory that only messages use, is faster for
// all messages that fit in the caches.
#pragma once

#include <cstddef>
#include <cstdint>

#include "plugins/mpi/ranges.h"
#include "plugins/mpi/window.h"

namespace scopevm::mpi {

// Copies bytes that another process has written or will read. The processor's own loop need not
// read the lines that it writes, nor take them in order; memcpy() uses stores if both addresses
// have the same place in their page.
void copy_between_processes(void* to, const void* from, int64_t bytes);

// Not thread-safe.
class Staging {
 public:
  // A copy of a message. Its destruction releases the memory.
  class Block {
   public:
    Block() = default;
    Block(Staging* staging, int64_t offset, int64_t bytes)
        : staging_(staging), offset_(offset), bytes_(bytes) {}
    ~Block() { reset(); }
    Block(const Block&) = delete;
    Block& operator=(const Block&) = delete;
    Block& operator=(Block&& other) noexcept;
    void reset();
    // Of the copy in the window; -1: there is none.
    int64_t offset() const { return offset_; }

   private:
    Staging* staging_ = nullptr;
    int64_t offset_ = -1;
    int64_t bytes_ = 0;
  };

  // The memory is allocated in the window by the first message. The window outlives this object.
  explicit Staging(Window& window) : window_(window) {}
  ~Staging();
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;

  // A copy of a message; none if the message is large, or no memory is free. Throws std::bad_alloc.
  Block copy(const void* data, int64_t bytes);

 private:
  Window& window_;
  std::byte* base_ = nullptr;
  bool is_tried_ = false;
  FreeRanges free_;  // offsets in the window
};

}  // namespace scopevm::mpi
