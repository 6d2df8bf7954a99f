// Appends values to bytes, little-endian. byte_reader.h is the inverse.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace scopevm::tool {

class ByteWriter {
 public:
  void u8(uint8_t value) { bytes_.push_back(value); }
  void u32(uint32_t value) { number(value); }
  void u64(uint64_t value) { number(value); }
  void i64(int64_t value) { number(value); }
  void bytes(std::span<const uint8_t> bytes) {
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  }
  // The size, then the bytes.
  void sized(std::span<const uint8_t> bytes) {
    u64(bytes.size());
    this->bytes(bytes);
  }
  void text(std::string_view text) {
    sized({reinterpret_cast<const uint8_t*>(text.data()), text.size()});
  }

  std::span<const uint8_t> written() const { return bytes_; }
  std::vector<uint8_t> take() { return std::move(bytes_); }

 private:
  template <typename T>
  void number(T value) {
    uint8_t raw[sizeof value];
    std::memcpy(raw, &value, sizeof value);  // the project supports little-endian machines only
    bytes_.insert(bytes_.end(), raw, raw + sizeof value);
  }

  std::vector<uint8_t> bytes_;
};

}  // namespace scopevm::tool
