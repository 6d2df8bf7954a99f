// XXH3: the checksum of headers and sections (64 bits) and the digest of tensors (128 bits).
// Neither is secure against intent.
#pragma once

#include <compare>
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

struct Digest {
  uint64_t low = 0;
  uint64_t high = 0;
  friend auto operator<=>(const Digest&, const Digest&) = default;
};
Digest digest(const void* bytes, size_t size);

// The digest of a sequence of pieces, as if they were one contiguous range.
class StreamingDigest {
 public:
  StreamingDigest();
  ~StreamingDigest();
  StreamingDigest(const StreamingDigest&) = delete;
  StreamingDigest& operator=(const StreamingDigest&) = delete;

  void add(const void* bytes, size_t size);
  Digest value() const;

 private:
  void* state_;
};

}  // namespace scopevm::format
