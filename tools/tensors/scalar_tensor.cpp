// Parses one element; see scalar_tensor.h.
#include "tools/tensors/scalar_tensor.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace scopevm::tool {
namespace {

// True if the whole text is a number of type T, which is stored in `value`.
template <typename T>
bool parse(std::string_view text, T& value) {
  if (text.starts_with("+")) text.remove_prefix(1);
  const char* const begin = text.data();
  const char* const end = begin + text.size();
  const auto [stop, error] = std::from_chars(begin, end, value);
  return error == std::errc() && stop == end;
}

// The bits of the nearest 16-bit float, ties to even. The float has `fraction` fraction bits, and
// 2^least_exponent is its smallest normal value.
uint16_t narrow_bits(double value, int fraction, int least_exponent) {
  const int sign = std::signbit(value) ? 0x8000 : 0;
  const int infinity = 0x7fff >> fraction << fraction;
  if (std::isnan(value)) return static_cast<uint16_t>(infinity | 1 << (fraction - 1));
  if (value == 0) return static_cast<uint16_t>(sign);
  const int exponent = std::max(std::ilogb(value), least_exponent);
  if (std::isinf(value) || exponent > 1 - least_exponent)
    return static_cast<uint16_t>(sign | infinity);
  // The leading bit of a normal fraction, and a carry of the rounding, increment the exponent.
  const double units = std::nearbyint(std::ldexp(std::fabs(value), fraction - exponent));
  const int bits = (exponent - least_exponent) * (1 << fraction) + static_cast<int>(units);
  return static_cast<uint16_t>(sign | bits);
}

template <typename T>
bool store(std::string_view text, const Tensor& tensor) {
  return parse(text, tensor.elements<T>()[0]);
}

bool store_narrow(std::string_view text, const Tensor& tensor, int fraction, int least_exponent) {
  double value = 0;
  if (!parse(text, value)) return false;
  tensor.elements<uint16_t>()[0] = narrow_bits(value, fraction, least_exponent);
  return true;
}

bool store_bool(std::string_view text, const Tensor& tensor) {
  const bool is_true = text == "true" || text == "1";
  tensor.elements<uint8_t>()[0] = is_true ? 1 : 0;
  return is_true || text == "false" || text == "0";
}

bool store_element(std::string_view text, const Tensor& tensor) {
  switch (tensor.dtype()) {
    case DType::kBool:
      return store_bool(text, tensor);
    case DType::kI8:
      return store<int8_t>(text, tensor);
    case DType::kI16:
      return store<int16_t>(text, tensor);
    case DType::kI32:
      return store<int32_t>(text, tensor);
    case DType::kI64:
      return store<int64_t>(text, tensor);
    case DType::kU8:
      return store<uint8_t>(text, tensor);
    case DType::kU16:
      return store<uint16_t>(text, tensor);
    case DType::kU32:
      return store<uint32_t>(text, tensor);
    case DType::kU64:
      return store<uint64_t>(text, tensor);
    case DType::kF16:
      return store_narrow(text, tensor, 10, -14);
    case DType::kBF16:
      return store_narrow(text, tensor, 7, -126);
    case DType::kF32:
      return store<float>(text, tensor);
    case DType::kF64:
      return store<double>(text, tensor);
    case DType::kStr:
      break;  // rejected by scalar_tensor()
  }
  return false;
}

}  // namespace

bool is_scalar(std::string_view text) {
  double value = 0;
  return text == "true" || text == "false" || parse(text, value);
}

Result<Tensor> scalar_tensor(DType dtype, size_t rank, std::string_view text) {
  const auto wrong = [&](const std::string& expected) {
    return Status(StatusCode::kInvalidArgument,
                  "\"" + std::string(text) + "\": expected " + expected);
  };
  if (dtype == DType::kStr) return wrong("string:" + std::string(text) + " for a string");
  SCOPEVM_ASSIGN_OR_RETURN(Tensor tensor, Tensor::allocate(dtype, std::vector<int64_t>(rank, 1)));
  if (store_element(text, tensor)) return tensor;
  return wrong("a value of type " + std::string(name(dtype)));
}

}  // namespace scopevm::tool
