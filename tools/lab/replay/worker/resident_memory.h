// The resident memory of this process.
#pragma once

#include <cstdint>

namespace scopevm::lab {

// Reads /proc/self/statm through one descriptor, because a worker reads it while it measures.
class ResidentMemory {
 public:
  ResidentMemory();
  ~ResidentMemory();
  ResidentMemory(const ResidentMemory&) = delete;
  ResidentMemory& operator=(const ResidentMemory&) = delete;
  // Bytes; 0 if they cannot be read.
  uint64_t read() const;

 private:
  const int file_;
};

}  // namespace scopevm::lab
