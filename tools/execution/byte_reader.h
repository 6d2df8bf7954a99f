// Reads the values that a ByteWriter has written, from untrusted bytes. A value after the end of
// the bytes is 0 or empty, and makes ok() false for good, so that a reader can check once.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

namespace scopevm::tool {

class ByteReader {
 public:
  explicit ByteReader(std::span<const uint8_t> bytes) : rest_(bytes) {}

  uint8_t u8() { return number<uint8_t>(); }
  uint32_t u32() { return number<uint32_t>(); }
  uint64_t u64() { return number<uint64_t>(); }
  int64_t i64() { return number<int64_t>(); }
  std::span<const uint8_t> bytes(uint64_t size) {
    if (!is_ok_ || size > rest_.size()) {
      is_ok_ = false;
      return {};
    }
    const std::span<const uint8_t> taken = rest_.first(size);
    rest_ = rest_.subspan(size);
    return taken;
  }
  std::span<const uint8_t> sized() { return bytes(u64()); }
  std::string_view text() {
    const std::span<const uint8_t> raw = sized();
    return {reinterpret_cast<const char*>(raw.data()), raw.size()};
  }
  // The number of elements of a list; each has at least `element_bytes` bytes. Fails for a number
  // that the rest of the bytes cannot contain, so that no reader allocates more than a file has.
  uint64_t count(uint64_t element_bytes) {
    const uint64_t count = u64();
    if (count > rest_.size() / element_bytes) is_ok_ = false;
    return is_ok_ ? count : 0;
  }

  // Records that a value is invalid.
  void fail() { is_ok_ = false; }
  bool ok() const { return is_ok_; }
  // Whether all bytes were read.
  bool is_finished() const { return is_ok_ && rest_.empty(); }

 private:
  template <typename T>
  T number() {
    T value{};
    if (const std::span<const uint8_t> raw = bytes(sizeof value); raw.size() == sizeof value)
      std::memcpy(&value, raw.data(), sizeof value);
    return value;
  }

  std::span<const uint8_t> rest_;
  bool is_ok_ = true;
};

}  // namespace scopevm::tool
