#include "tests/ranks/random/tensors.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace scopevm::ranks {
namespace {

// The bytes of an integer in [-3, 3] or [0, 3] as an element.
uint64_t bits_of(DType dtype, int64_t number) {
  constexpr std::array<uint16_t, 4> kF16 = {0, 0x3C00, 0x4000, 0x4200};
  constexpr std::array<uint16_t, 4> kBf16 = {0, 0x3F80, 0x4000, 0x4040};
  const auto magnitude = static_cast<size_t>(std::abs(number));
  const uint64_t sign = number < 0 ? 0x8000 : 0;
  uint64_t bits = 0;
  if (dtype == DType::kF16) return kF16[magnitude] | sign;
  if (dtype == DType::kBF16) return kBf16[magnitude] | sign;
  if (dtype == DType::kF32) {
    const auto value = static_cast<float>(number);
    std::memcpy(&bits, &value, sizeof value);
    return bits;
  }
  if (dtype == DType::kF64) {
    const auto value = static_cast<double>(number);
    std::memcpy(&bits, &value, sizeof value);
    return bits;
  }
  return static_cast<uint64_t>(number);
}

std::string text_of(std::span<const int64_t> dims) {
  std::string text;
  for (const int64_t dim : dims) text += (text.empty() ? "" : ", ") + std::to_string(dim);
  return "[" + text + "]";
}

int64_t product(std::span<const int64_t> dims) {
  int64_t result = 1;
  for (const int64_t dim : dims) result *= dim;
  return result;
}

// Copies a box between a tensor and a part of it along an axis.
void copy_part(const Tensor& whole, const Tensor& part, size_t axis, int64_t start, bool is_read) {
  const int64_t inner = product(whole.dims().subspan(axis + 1)) * byte_size(whole.dtype());
  const int64_t outer = product(whole.dims().first(axis));
  const int64_t size = part.dims()[axis] * inner, stride = whole.dims()[axis] * inner;
  for (int64_t i = 0; i < outer && size > 0; ++i) {
    auto* const in_whole =
        static_cast<std::byte*>(const_cast<void*>(whole.data())) + i * stride + start * inner;
    auto* const in_part = static_cast<std::byte*>(const_cast<void*>(part.data())) + i * size;
    std::memcpy(is_read ? in_part : in_whole, is_read ? in_whole : in_part,
                static_cast<size_t>(size));
  }
}

}  // namespace

Tensor random_tensor(Random& random, DType dtype, const std::vector<int64_t>& dims) {
  Tensor tensor = *Tensor::allocate(dtype, dims);
  const bool is_unsigned = dtype == DType::kU8 || dtype == DType::kBool;
  const auto size = static_cast<size_t>(byte_size(dtype));
  for (int64_t i = 0; i < tensor.element_count(); ++i) {
    const int64_t number = random.between(is_unsigned ? 0 : -3, dtype == DType::kBool ? 1 : 3);
    const uint64_t bits = bits_of(dtype, number);
    std::memcpy(static_cast<std::byte*>(tensor.data()) + static_cast<size_t>(i) * size, &bits,
                size);
  }
  return tensor;
}

Tensor slice_of(const Tensor& whole, size_t axis, int64_t start, int64_t size) {
  std::vector<int64_t> dims(whole.dims().begin(), whole.dims().end());
  dims[axis] = size;
  Tensor part = *Tensor::allocate(whole.dtype(), dims);
  copy_part(whole, part, axis, start, true);
  return part;
}

int divided_axis(std::span<const int64_t> part, std::span<const int64_t> whole) {
  for (size_t axis = 0; axis < part.size(); ++axis)
    if (part[axis] != whole[axis]) return static_cast<int>(axis);
  return -1;
}

Tensor joined(const std::vector<Tensor>& parts, std::span<const int64_t> dims) {
  const int axis = divided_axis(parts.front().dims(), dims);
  if (axis < 0) return parts.front();
  Tensor whole =
      *Tensor::allocate(parts.front().dtype(), std::vector<int64_t>(dims.begin(), dims.end()));
  int64_t start = 0;
  for (const Tensor& part : parts) {
    copy_part(whole, part, static_cast<size_t>(axis), start, false);
    start += part.dims()[static_cast<size_t>(axis)];
  }
  return whole;
}

std::string difference(const Tensor& actual, const Tensor& expected) {
  if (actual.dtype() != expected.dtype() || !std::ranges::equal(actual.dims(), expected.dims()))
    return "dims " + text_of(actual.dims()) + ", expected " + text_of(expected.dims());
  const int64_t size = byte_size(actual.dtype());
  const auto* const a = static_cast<const std::byte*>(actual.data());
  const auto* const b = static_cast<const std::byte*>(expected.data());
  for (int64_t i = 0; i < actual.element_count(); ++i)
    if (std::memcmp(a + i * size, b + i * size, static_cast<size_t>(size)) != 0)
      return "another element at index " + std::to_string(i) + " of " + text_of(actual.dims());
  return "";
}

}  // namespace scopevm::ranks
