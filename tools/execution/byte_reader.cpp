// Reads values with checks of the size; see byte_reader.h.
#include "tools/execution/byte_reader.h"

#include <cstring>

namespace scopevm::tool {

template <typename T>
T ByteReader::number() {
  T value{};
  if (const std::span<const uint8_t> raw = bytes(sizeof value); raw.size() == sizeof value)
    std::memcpy(&value, raw.data(), sizeof value);
  return value;
}
template uint8_t ByteReader::number<uint8_t>();
template uint32_t ByteReader::number<uint32_t>();
template uint64_t ByteReader::number<uint64_t>();
template int64_t ByteReader::number<int64_t>();

std::span<const uint8_t> ByteReader::bytes(uint64_t size) {
  if (!is_ok_ || size > rest_.size()) {
    is_ok_ = false;
    return {};
  }
  const std::span<const uint8_t> taken = rest_.first(size);
  rest_ = rest_.subspan(size);
  return taken;
}

std::string_view ByteReader::text() {
  const std::span<const uint8_t> raw = sized();
  return {reinterpret_cast<const char*>(raw.data()), raw.size()};
}

uint64_t ByteReader::count(uint64_t element_bytes) {
  const uint64_t count = u64();
  if (count > rest_.size() / element_bytes) is_ok_ = false;
  return is_ok_ ? count : 0;
}

}  // namespace scopevm::tool
