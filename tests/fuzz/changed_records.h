// Changes to a file of records that keep its checksum valid, so that its reader sees them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "vm/format/binary/checksum.h"

namespace scopevm::test {

// Each four bytes of `data` are one change: an offset in the file, its new byte, and a byte that is
// not used.
inline std::vector<uint8_t> changed_records(std::vector<uint8_t> file, const uint8_t* data,
                                            size_t size) {
  for (size_t at = 0; at + 4 <= size; at += 4) {
    uint16_t offset = 0;
    std::memcpy(&offset, data + at, sizeof offset);
    file[offset % file.size()] = data[at + 2];
  }
  const size_t end = file.size() - sizeof(uint64_t);
  const uint64_t sum = format::checksum(file.data(), end);
  std::memcpy(file.data() + end, &sum, sizeof sum);
  return file;
}

}  // namespace scopevm::test
