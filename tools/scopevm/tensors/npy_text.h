// NumPy's texts of fixed width, and back: U, which is UCS-4, and S, which is bytes. Both are padded
// with zeros at their end.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "scopevm/tensor.h"

namespace scopevm::tool {

struct NpyText {
  bool is_unicode = false;
  int64_t width = 0;  // characters of one element

  int64_t element_bytes() const { return width * (is_unicode ? 4 : 1); }
};

// Of an array's descr without its quotes: "<U5", "|S12". Empty when it is another type.
std::optional<NpyText> parse_npy_text(std::string_view descr);

// A tensor of the array's texts, in UTF-8. Errors: kInvalidArgument where characters are none.
// REQUIRES: bytes are what the dims and the type say.
Result<Tensor> decode_npy_text(NpyText type, std::span<const uint8_t> bytes,
                               std::span<const int64_t> dims);

// The texts as UCS-4, as wide as the longest. Errors: kInvalidArgument where one is no UTF-8.
struct EncodedNpyText {
  std::string descr;  // "<U5"
  std::u32string characters;
};
Result<EncodedNpyText> encode_npy_text(const Tensor& texts);

}  // namespace scopevm::tool
