// Sizes in messages.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>

namespace scopevm::runtime {

// The unit of all sizes in one message, so that they can be compared: the largest one in which each
// size is an exact multiple of a half.
class SizeUnit {
 public:
  SizeUnit(std::initializer_list<int64_t> sizes);
  // The exact number: "1 byte", "640 bytes", "1.5 KiB", "12.0 MiB", "1025 bytes". REQUIRES: `bytes`
  // is one of the sizes.
  std::string text(int64_t bytes) const;

 private:
  int unit_ = 0;  // 0: bytes, 1: KiB, 2: MiB, ...
};

// The only size of a message.
std::string bytes_text(int64_t bytes);

}  // namespace scopevm::runtime
