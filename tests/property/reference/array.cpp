// Implements array.h: indices, rounding and number formats.
#include "tests/property/reference/array.h"

#include <cstring>

#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/APInt.h"

namespace scopevm::compiler::property {

int64_t count_of(std::span<const int64_t> dims) {
  int64_t count = 1;
  for (int64_t dim : dims) count *= dim;
  return count;
}

Array make_array(DType dtype, std::vector<int64_t> dims) {
  Array array{dtype, std::move(dims), {}};
  array.elements.resize(static_cast<size_t>(count_of(array.dims)));
  return array;
}

int64_t offset_of(std::span<const int64_t> dims, std::span<const int64_t> index) {
  int64_t offset = 0;
  for (size_t i = 0; i < dims.size(); ++i) offset = offset * dims[i] + index[i];
  return offset;
}

bool advance(std::span<const int64_t> dims, Index& index) {
  for (size_t i = dims.size(); i-- > 0;) {
    if (++index[i] < dims[i]) return true;
    index[i] = 0;
  }
  return false;
}

int bits_of(DType dtype) {
  return dtype == DType::kBool ? 1
                               : static_cast<int>(8 * byte_size(dtype) / elements_per_byte(dtype));
}

long double lowest(DType dtype) {
  return is_unsigned(dtype) ? 0.0L : -std::ldexp(1.0L, bits_of(dtype) - 1);
}

long double highest(DType dtype) {
  return std::ldexp(1.0L, bits_of(dtype) - (is_unsigned(dtype) ? 0 : 1)) - 1;
}

double unit(DType dtype) {
  switch (dtype) {
    case DType::kF16:
      return 0x1p-10;
    case DType::kBF16:
      return 0x1p-7;
    case DType::kF32:
      return 0x1p-23;
    case DType::kF64:
      return 0x1p-52;
    default:
      return 0;
  }
}

// Subnormal results may be flushed to zero, except in f16, whose subnormals are normal in f32.
double smallest(DType dtype) {
  switch (dtype) {
    case DType::kF16:
      return 0x1p-24;
    case DType::kF64:
      return 0x1p-1022;
    default:
      return 0x1p-126;
  }
}

namespace {

const llvm::fltSemantics& semantics_of(DType dtype) {
  switch (dtype) {
    case DType::kF16:
      return llvm::APFloat::IEEEhalf();
    case DType::kBF16:
      return llvm::APFloat::BFloat();
    case DType::kF32:
      return llvm::APFloat::IEEEsingle();
    default:
      return llvm::APFloat::IEEEdouble();
  }
}

llvm::APFloat float_of(DType dtype, long double value) {
  uint64_t words[2] = {};
  std::memcpy(words, &value,
              10);  // the x87 format: 64 bits of mantissa, and 16 of exponent and sign
  llvm::APFloat result(llvm::APFloat::x87DoubleExtended(), llvm::APInt(80, words));
  bool loses = false;
  result.convert(semantics_of(dtype), llvm::APFloat::rmNearestTiesToEven, &loses);
  return result;
}

long double number_of(llvm::APFloat value) {
  bool loses = false;
  value.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven, &loses);
  return value.convertToDouble();
}

}  // namespace

long double rounded(DType dtype, long double value) {
  if (dtype == DType::kF64) return static_cast<double>(value);
  if (dtype == DType::kF32) return static_cast<float>(value);
  return number_of(float_of(dtype, value));
}

Number wrapped(DType dtype, __int128 value) {
  if (dtype == DType::kBool) return {value != 0 ? 1.0L : 0.0L, 0};
  int bits = bits_of(dtype);
  auto low = static_cast<uint64_t>(static_cast<unsigned __int128>(value));
  if (is_unsigned(dtype)) {
    if (bits < 64) low &= (uint64_t{1} << bits) - 1;
    return {static_cast<long double>(low), 0};
  }
  auto shifted = static_cast<int64_t>(low << (64 - bits));
  return {static_cast<long double>(shifted >> (64 - bits)), 0};
}

Number result_of(DType dtype, long double value, double error, double ulps) {
  if (!(error < kUnknown)) return kAnything;
  if (!std::isfinite(value)) return error == 0 ? Number{value, 0} : kAnything;
  auto magnitude = static_cast<double>(std::fabs(value));
  if (!std::isfinite(rounded(dtype, (std::fabs(value) + error) * (1 + unit(dtype)))))
    return kAnything;
  if (ulps == 0 && error == 0 && rounded(dtype, value) == value) return {value, 0};
  double own = (ulps == 0 ? 1 : ulps) * unit(dtype) * (magnitude + error) + smallest(dtype);
  return {value, error + own};
}

void encode(DType dtype, long double value, void* bytes, size_t i) {
  if (elements_per_byte(dtype) > 1) {
    const size_t at = i * static_cast<size_t>(bits_of(dtype));
    static_cast<uint8_t*>(bytes)[at / 8] |=
        static_cast<uint8_t>(static_cast<unsigned>(value) << (at % 8));
    return;
  }
  uint64_t bits = 0;
  if (is_float(dtype))
    bits = float_of(dtype, value).bitcastToAPInt().getZExtValue();
  else if (value < 0)
    bits = static_cast<uint64_t>(static_cast<int64_t>(value));
  else
    bits = static_cast<uint64_t>(value);
  const auto size = static_cast<size_t>(byte_size(dtype));
  std::memcpy(static_cast<char*>(bytes) + i * size, &bits, size);
}

long double decode(DType dtype, const void* bytes, size_t i) {
  uint64_t bits = 0;
  const auto size = static_cast<size_t>(byte_size(dtype));
  if (elements_per_byte(dtype) > 1) {
    const size_t at = i * static_cast<size_t>(bits_of(dtype));
    const unsigned byte = static_cast<const uint8_t*>(bytes)[at / 8];
    return static_cast<long double>(byte >> (at % 8) & ((1u << bits_of(dtype)) - 1));
  }
  std::memcpy(&bits, static_cast<const char*>(bytes) + i * size, size);
  if (is_small(dtype)) return static_cast<long double>(bits);
  if (is_float(dtype)) {
    llvm::APInt raw(static_cast<unsigned>(8 * byte_size(dtype)), bits);
    return number_of(llvm::APFloat(semantics_of(dtype), raw));
  }
  // Not reduced to 0 or 1, so that an invalid byte such as 2 differs from true.
  if (dtype == DType::kBool) return static_cast<long double>(bits);
  return wrapped(dtype, static_cast<__int128>(bits)).value;
}

}  // namespace scopevm::compiler::property
