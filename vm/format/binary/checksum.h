// XXH3, 64 bits: the checksum of headers and sections.
#pragma once

#include <cstddef>
#include <cstdint>

namespace scopevm::format {

uint64_t checksum(const void* bytes, size_t size);

// The checksum of a sequence of pieces, as if they were one contiguous range.
class StreamingChecksum {
 public:
  StreamingChecksum();
  ~StreamingChecksum();
  StreamingChecksum(const StreamingChecksum&) = delete;
  StreamingChecksum& operator=(const StreamingChecksum&) = delete;

  void add(const void* bytes, size_t size);
  uint64_t value() const;

 private:
  void* state_;
};

}  // namespace scopevm::format
