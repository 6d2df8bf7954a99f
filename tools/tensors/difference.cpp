// Measures the differences of two tensors; see difference.h.
#include "tools/tensors/difference.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "runtime/tensor/element_types.h"
#include "runtime/tensor/small_type.h"
#include "tools/tensors/small_tensor.h"

namespace scopevm::tool {
namespace {

using runtime::load_element;
using runtime::visit_element_type;

// Represents the values of all numeric element types exactly.
using Wide = long double;

// The number as a double or, for 64-bit integers, as a long double.
Wide element_value(const Tensor& tensor, int64_t index) {
  if (is_small(tensor.dtype())) return small_element(tensor, index);
  return visit_element_type(tensor.dtype(), [&](auto type) -> Wide {
    using T = decltype(type);
    const auto* const at =
        static_cast<const std::byte*>(tensor.data()) + index * byte_size(tensor.dtype());
    const T value = load_element<T>(at);
    if constexpr (runtime::NarrowFloatType<T>)
      return static_cast<double>(value);
    else
      return static_cast<Wide>(value);
  });
}

// Floats as integers in the order of their values; both zeros are 0.
template <typename Bits>
int64_t ordered(Bits bits) {
  using Signed = std::make_signed_t<Bits>;
  const auto number = static_cast<Signed>(bits);
  if (number >= 0) return number;
  return -static_cast<int64_t>(static_cast<Signed>(bits & std::numeric_limits<Signed>::max()));
}

int64_t ordered_element(const Tensor& tensor, int64_t index) {
  const auto* const at =
      static_cast<const std::byte*>(tensor.data()) + index * byte_size(tensor.dtype());
  switch (byte_size(tensor.dtype())) {
    case 2:
      return ordered(load_element<uint16_t>(at));
    case 4:
      return ordered(load_element<uint32_t>(at));
    default:
      return ordered(load_element<uint64_t>(at));
  }
}

uint64_t distance(int64_t a, int64_t b) {
  const auto low = static_cast<uint64_t>(std::min(a, b)),
             high = static_cast<uint64_t>(std::max(a, b));
  return high - low;
}

template <typename T>
void raise(Largest<T>& largest, T value, int64_t index) {
  if (value > largest.value) largest = {value, index};
}

void count_outside(TensorDifference& result, int64_t index) {
  ++result.outside;
  if (!result.first_outside) result.first_outside = index;
}

void compare_strings(TensorDifference& result, const Tensor& first, const Tensor& second) {
  for (int64_t i = 0; i < result.elements; ++i) {
    if (first.string_at(i) == second.string_at(i)) continue;
    ++result.different;
    count_outside(result, i);
  }
}

void compare_numbers(TensorDifference& result, int64_t i, const Tensor& first, const Tensor& second,
                     const Tolerance& tolerance) {
  const Wide e = element_value(first, i), f = element_value(second, i);
  result.nans_of_first += std::isnan(e) ? 1 : 0;
  result.nans_of_second += std::isnan(f) ? 1 : 0;
  if (e == f || (std::isnan(e) && std::isnan(f))) return;
  ++result.different;
  if (std::isnan(e) || std::isnan(f)) return count_outside(result, i);
  if (!std::isfinite(e) || !std::isfinite(f)) {
    raise(result.absolute, std::numeric_limits<double>::infinity(), i);
    raise(result.relative, std::numeric_limits<double>::infinity(), i);
    return count_outside(result, i);
  }
  const auto absolute = static_cast<double>(std::fabs(e - f));
  const auto magnitude = static_cast<double>(std::fabs(f));
  raise(result.absolute, absolute, i);
  raise(result.relative, absolute / magnitude, i);
  bool agrees = absolute <= tolerance.absolute + tolerance.relative * magnitude;
  if (result.ulp) {
    const uint64_t ulp = distance(ordered_element(first, i), ordered_element(second, i));
    raise(*result.ulp, ulp, i);
    agrees = agrees || ulp <= tolerance.ulp;
  }
  if (!agrees) count_outside(result, i);
}

}  // namespace

TensorDifference compare_tensors(const Tensor& first, const Tensor& second,
                                 const Tolerance& tolerance) {
  TensorDifference result;
  result.has_equal_dtypes = first.dtype() == second.dtype();
  result.has_equal_shapes = std::ranges::equal(first.dims(), second.dims());
  const bool has_strings = first.dtype() == DType::kStr || second.dtype() == DType::kStr;
  if (!result.has_equal_shapes || (has_strings && !result.has_equal_dtypes)) return result;
  result.elements = first.element_count();
  if (has_strings) {
    compare_strings(result, first, second);
    return result;
  }
  if (result.has_equal_dtypes && is_float(first.dtype())) result.ulp.emplace();
  for (int64_t i = 0; i < result.elements; ++i)
    compare_numbers(result, i, first, second, tolerance);
  return result;
}

namespace {

// Whether the elements are the same string, or have the same bits.
bool is_same_element(const Tensor& first, const Tensor& second, int64_t i) {
  const DType dtype = first.dtype();
  if (dtype == DType::kStr) return first.string_at(i) == second.string_at(i);
  if (const runtime::SmallType* type = runtime::small_type(dtype))
    return runtime::pattern_at(*type, first.data(), i) ==
           runtime::pattern_at(*type, second.data(), i);
  const int64_t size = byte_size(dtype);
  return std::memcmp(static_cast<const std::byte*>(first.data()) + i * size,
                     static_cast<const std::byte*>(second.data()) + i * size,
                     static_cast<size_t>(size)) == 0;
}

}  // namespace

std::optional<int64_t> first_unequal_element(const Tensor& first, const Tensor& second) {
  for (int64_t i = 0; i < first.element_count(); ++i)
    if (!is_same_element(first, second, i)) return i;
  return std::nullopt;
}

}  // namespace scopevm::tool
