// Element types: their names, formats of the buffer protocol and types of DLPack.
#include <cstring>
#include <iterator>

#include "python/native/native.h"

namespace scopevm::python {
namespace {

// By dtype. Formats are those of the module struct.
struct Row {
  const char* format;
  uint8_t code;
  uint8_t bits;
};
constexpr Row kRows[] = {
    {"?", kDLBool, 8},
    {"b", kDLInt, 8},
    {"h", kDLInt, 16},
    {"i", kDLInt, 32},
    {"q", kDLInt, 64},
    {"B", kDLUInt, 8},
    {"H", kDLUInt, 16},
    {"I", kDLUInt, 32},
    {"Q", kDLUInt, 64},
    {"e", kDLFloat, 16},
    {nullptr, kDLBfloat, 16},
    {"f", kDLFloat, 32},
    {"d", kDLFloat, 64},
    {nullptr, 0, 0},
    {nullptr, kDLInt, 4},
    {nullptr, kDLUInt, 4},
    {nullptr, kDLInt, 2},
    {nullptr, kDLUInt, 2},
    // Codes of DLPack 1.1.
    {nullptr, 17, 4},
    {nullptr, 10, 8},
    {nullptr, 11, 8},
    {nullptr, 12, 8},
    {nullptr, 13, 8},
    {nullptr, 14, 8},
};
constexpr int kCount = static_cast<int>(std::size(kRows));

}  // namespace

int parse_dtype(const char* name) {
  for (int dtype = 0; dtype < kCount; ++dtype)
    if (std::strcmp(scopevm_dtype_name(dtype), name) == 0) return dtype;
  return -1;
}

const char* format_of(int dtype) {
  return dtype >= 0 && dtype < kCount ? kRows[dtype].format : nullptr;
}

DLDataType dlpack_type(int dtype) { return {kRows[dtype].code, kRows[dtype].bits, 1}; }

DLDataType type_of_format(const char* format, Py_ssize_t item_bytes) {
  constexpr DLDataType kNone = {0, 0, 0};
  if (format == nullptr) format = "B";
  // This machine is little-endian.
  if (*format == '@' || *format == '=' || *format == '<') ++format;
  if (format[0] == '\0' || format[1] != '\0' || item_bytes < 1 || item_bytes > 8) return kNone;
  const auto bits = static_cast<uint8_t>(item_bytes * 8);
  if (*format == '?') return {kDLBool, bits, 1};
  if (std::strchr("bhilqn", *format) != nullptr) return {kDLInt, bits, 1};
  if (std::strchr("BHILQN", *format) != nullptr) return {kDLUInt, bits, 1};
  if (std::strchr("efd", *format) != nullptr) return {kDLFloat, bits, 1};
  return kNone;
}

}  // namespace scopevm::python
