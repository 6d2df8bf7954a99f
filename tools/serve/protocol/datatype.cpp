// The table of names; see datatype.h.
#include "tools/serve/protocol/datatype.h"

#include <array>
#include <utility>

namespace scopevm::serve {
namespace {

using enum DType;

constexpr std::array<std::pair<DType, std::string_view>, 14> kNames = {{
    {kBool, "BOOL"},
    {kI8, "INT8"},
    {kI16, "INT16"},
    {kI32, "INT32"},
    {kI64, "INT64"},
    {kU8, "UINT8"},
    {kU16, "UINT16"},
    {kU32, "UINT32"},
    {kU64, "UINT64"},
    {kF16, "FP16"},
    {kBF16, "BF16"},
    {kF32, "FP32"},
    {kF64, "FP64"},
    {kStr, "BYTES"},
}};

char capital(char letter) {
  return letter >= 'a' && letter <= 'z' ? static_cast<char>(letter - 'a' + 'A') : letter;
}

}  // namespace

std::string datatype_name(DType dtype) {
  for (const auto& [type, text] : kNames)
    if (type == dtype) return std::string(text);
  std::string text(name(dtype));
  for (char& letter : text) letter = capital(letter);
  return text;
}

std::optional<DType> parse_datatype(std::string_view text) {
  for (int i = 0; i < kDTypeCount; ++i)
    if (datatype_name(static_cast<DType>(i)) == text) return static_cast<DType>(i);
  return std::nullopt;
}

}  // namespace scopevm::serve
