// Converts NumPy's fixed-width strings, U (UCS-4) and S (bytes), to string tensors, and string
// tensors to U. Strings of both types are zero-padded at the end.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "scopevm/tensor.h"

namespace scopevm::tool {

struct NpyString {
  bool is_unicode = false;
  int64_t width = 0;  // characters of one element

  int64_t element_bytes() const { return width * (is_unicode ? 4 : 1); }
};

// Parses the descr of an array without its quotes: "<U5", "|S12". Returns no value for another
// type, or for a width outside 1 to INT32_MAX.
std::optional<NpyString> parse_npy_string(std::string_view descr);

// Returns a string tensor: U elements in UTF-8, S elements with their bytes unchanged. Removes the
// padding. Errors: kInvalidArgument (a U element contains an invalid code point), kOutOfMemory.
// REQUIRES: the number of bytes matches the dims and the type.
Result<Tensor> decode_npy_string(NpyString type, std::span<const uint8_t> bytes,
                                 std::span<const int64_t> dims);

// The strings as UCS-4, with the width of the longest, at least 1. Errors: kInvalidArgument
// (invalid UTF-8).
struct EncodedNpyString {
  std::string descr;  // "<U5"
  std::u32string characters;
};
Result<EncodedNpyString> encode_npy_string(const Tensor& strings);

}  // namespace scopevm::tool
