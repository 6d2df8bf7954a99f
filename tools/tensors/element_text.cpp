// Formats tensor elements for the output of commands; see element_text.h.
#include "tools/tensors/element_text.h"

#include <fmt/format.h>

#include <bit>
#include <cmath>

#include "tools/files/standard_streams.h"

namespace scopevm::tool {
namespace {

float half_value(uint16_t bits) {
  const int exponent = (bits >> 10) & 31;
  const int fraction = bits & 0x3ff;
  const float sign = (bits & 0x8000) != 0 ? -1.0F : 1.0F;
  if (exponent == 31) return fraction != 0 ? NAN : sign * INFINITY;
  if (exponent == 0) return sign * std::ldexp(static_cast<float>(fraction), -24);
  return sign * std::ldexp(static_cast<float>(fraction + 1024), exponent - 25);
}

template <typename T>
T at(const Tensor& tensor, int64_t index) {
  return tensor.elements<T>()[static_cast<size_t>(index)];
}

// The string in double quotes. Control characters, quotes and backslashes are escaped.
std::string quoted(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return "\"" + escaped(result) + "\"";
}

}  // namespace

std::string element_text(const Tensor& tensor, int64_t index) {
  switch (tensor.dtype()) {
    case DType::kBool:
      return at<uint8_t>(tensor, index) != 0 ? "true" : "false";
    case DType::kI8:
      return std::to_string(at<int8_t>(tensor, index));
    case DType::kI16:
      return std::to_string(at<int16_t>(tensor, index));
    case DType::kI32:
      return std::to_string(at<int32_t>(tensor, index));
    case DType::kI64:
      return std::to_string(at<int64_t>(tensor, index));
    case DType::kU8:
      return std::to_string(at<uint8_t>(tensor, index));
    case DType::kU16:
      return std::to_string(at<uint16_t>(tensor, index));
    case DType::kU32:
      return std::to_string(at<uint32_t>(tensor, index));
    case DType::kU64:
      return std::to_string(at<uint64_t>(tensor, index));
    case DType::kF16:
      return fmt::format("{:.4g}", half_value(at<uint16_t>(tensor, index)));
    case DType::kBF16:
      return fmt::format("{:.3g}",
                         std::bit_cast<float>(uint32_t{at<uint16_t>(tensor, index)} << 16));
    case DType::kF32:
      return fmt::format("{:.6g}", at<float>(tensor, index));
    case DType::kF64:
      return fmt::format("{:.6g}", at<double>(tensor, index));
    case DType::kStr:
      return quoted(tensor.string_at(index));
  }
  return "?";
}

}  // namespace scopevm::tool
