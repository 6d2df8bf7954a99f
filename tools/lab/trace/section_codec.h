// The sections of a memory trace, and the integers and strings inside them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace scopevm::lab {

inline constexpr std::string_view kTraceMagic = "SVMEMTRC";
inline constexpr uint32_t kTraceVersion = 1;
inline constexpr size_t kHeaderBytes = 12;        // the magic number and the version
inline constexpr size_t kSectionHeaderBytes = 9;  // kind, size of the contents, checksum
inline constexpr uint32_t kMaxSectionBytes = 1 << 24;

enum class SectionKind : uint8_t {
  kProperties = 1,  // the first section
  kStrings = 2,
  kStacks = 3,
  kScopes = 4,
  kEvents = 5,
  kEnd = 6,  // the last section
};

// The first byte of an event: the EventKind in bits 0 and 1, and which fields follow.
enum EventBits : uint8_t {
  kKindMask = 3,
  kNewThread = 1 << 2,
  kNewScope = 1 << 3,
  kNewStack = 1 << 4,
  kHasAlignment = 1 << 5,
  kIsZeroed = 1 << 6,
};

// FNV-1a. Detects damaged files; it is not a protection against an attacker.
inline uint32_t checksum(std::span<const uint8_t> bytes) {
  uint32_t hash = 2166136261u;
  for (const uint8_t byte : bytes) hash = (hash ^ byte) * 16777619u;
  return hash;
}

inline uint64_t zigzag(int64_t value) {
  return (static_cast<uint64_t>(value) << 1) ^ static_cast<uint64_t>(value >> 63);
}
inline int64_t unzigzag(uint64_t value) {
  return static_cast<int64_t>(value >> 1) ^ -static_cast<int64_t>(value & 1);
}

// Appends values to the contents of a section. Integers have 7 bits per byte, the lowest first
// (LEB128).
class Encoder {
 public:
  void byte(uint8_t value) { bytes_.push_back(static_cast<char>(value)); }
  void integer(uint64_t value) {
    for (; value >= 0x80; value >>= 7) byte(static_cast<uint8_t>(value | 0x80));
    byte(static_cast<uint8_t>(value));
  }
  void string(std::string_view text) {
    integer(text.size());
    bytes_ += text;
  }
  std::string_view bytes() const { return bytes_; }
  void clear() { bytes_.clear(); }

 private:
  std::string bytes_;
};

// Reads the contents of a section. After a read past the end or of an integer above 64 bits,
// failed() is true and all further values are 0 or empty.
class Decoder {
 public:
  explicit Decoder(std::span<const uint8_t> bytes) : bytes_(bytes) {}

  uint8_t byte() {
    if (bytes_.empty()) return fail();
    const uint8_t value = bytes_.front();
    bytes_ = bytes_.subspan(1);
    return value;
  }
  uint64_t integer() {
    uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const uint64_t next = byte();
      if (shift == 63 && next > 1) break;
      value |= (next & 0x7f) << shift;
      if (next < 0x80) return value;
    }
    return fail();
  }
  std::string_view string() {
    const uint64_t size = integer();
    if (size > bytes_.size()) return fail(), std::string_view();
    const std::string_view text(reinterpret_cast<const char*>(bytes_.data()), size);
    bytes_ = bytes_.subspan(size);
    return text;
  }
  bool at_end() const { return bytes_.empty(); }
  bool failed() const { return failed_; }

 private:
  uint8_t fail() {
    failed_ = true;
    bytes_ = {};
    return 0;
  }

  std::span<const uint8_t> bytes_;
  bool failed_ = false;
};

}  // namespace scopevm::lab
