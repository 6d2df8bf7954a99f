// ReservedArray: an array whose virtual addresses are reserved for the largest size. The system
// supplies zeroed memory for an element at its first access, so that the array never moves.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <utility>

namespace scopevm::runtime {

// T is valid when all its bytes are 0, and trivially destructible.
template <typename T>
class ReservedArray {
 public:
  ReservedArray() = default;
  ReservedArray(const ReservedArray&) = delete;
  ReservedArray& operator=(const ReservedArray&) = delete;
  ~ReservedArray() {
    if (data_ != nullptr) munmap(data_, size_ * sizeof(T));
  }

  // Returns false if the system refuses the addresses. REQUIRES: called once.
  bool reserve(size_t size) {
    void* data = mmap(nullptr, size * sizeof(T), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (data == MAP_FAILED) return false;
    data_ = static_cast<T*>(data);
    size_ = size;
    return true;
  }
  size_t size() const { return size_; }
  T& operator[](size_t index) { return data_[index]; }
  const T& operator[](size_t index) const { return data_[index]; }

 private:
  T* data_ = nullptr;
  size_t size_ = 0;
};

}  // namespace scopevm::runtime
