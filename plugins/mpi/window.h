// The memory of a rank that the other ranks of its machine can read, so that a message between them
// is one copy. It is a file without a name that each of them maps: unlike the memory of
// MPI_Win_allocate_shared(), it is allocated by one rank when it needs it, takes nothing of
// /dev/shm, and disappears with the last process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>

#include "plugins/mpi/ranges.h"

namespace scopevm::mpi {

// A window as the other ranks find it.
struct WindowName {
  int process = 0;
  int descriptor = -1;  // of the process; -1: it has no window
  uint64_t bytes = 0;   // of addresses
  uint64_t token = 0;   // the first bytes of the window
};

// Thread-safe.
class Window {
 public:
  Window() = default;
  ~Window();
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;

  // Reserves addresses for several times the memory of the machine. Without them, or if the process
  // has a limit of addresses or of the sizes of files, name() has no descriptor, and no rank can
  // use the window.
  void open();
  WindowName name() const;

  // Null when out of memory. Throws std::bad_alloc.
  void* allocate(int64_t bytes, int64_t alignment);
  // Returns the memory to the system. Does not throw.
  void deallocate(void* block, int64_t bytes);
  // The offset of bytes in a block; -1: they are elsewhere.
  int64_t offset_of(const void* data) const;

 private:
  void close_descriptor();
  // The bytes of a block in whole pages.
  int64_t pages_of(int64_t bytes) const;

  std::byte* base_ = nullptr;
  int64_t bytes_ = 0;
  int64_t page_bytes_ = 0;
  int descriptor_ = -1;
  uint64_t token_ = 0;
  std::mutex mutex_;
  FreeRanges free_;
};

// The window of another rank, in the address space of this process.
class MappedWindow {
 public:
  MappedWindow() = default;
  ~MappedWindow();
  MappedWindow(const MappedWindow&) = delete;
  MappedWindow& operator=(const MappedWindow&) = delete;

  // Returns false if the process cannot be accessed, such as one of another container.
  bool open(const WindowName& name);
  bool is_open() const { return base_ != nullptr; }
  const std::byte* at(int64_t offset) const { return base_ + offset; }
  // Whether the window has such bytes.
  bool contains(int64_t offset, int64_t bytes) const {
    return offset >= 0 && bytes >= 0 && offset <= bytes_ - bytes;
  }

 private:
  const std::byte* base_ = nullptr;
  int64_t bytes_ = 0;
};

}  // namespace scopevm::mpi
