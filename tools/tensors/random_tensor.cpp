// Fills tensors with pseudorandom numbers; see random_tensor.h.
#include "tools/tensors/random_tensor.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <concepts>
#include <iterator>
#include <limits>
#include <utility>
#include <vector>

#include "runtime/tensor/element_types.h"
#include "runtime/tensor/small_type.h"
#include "tools/tensors/small_tensor.h"

namespace scopevm::tool {
namespace {

// SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014).
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  // In [0, 1).
  double next() {
    state_ += 0x9e3779b97f4a7c15ULL;
    uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1p-53;
  }

 private:
  uint64_t state_;
};

// The smallest and the largest finite element of a type. For 64-bit integers, `most` is the largest
// double that is an element.
struct Limits {
  double least;
  double most;
};

template <typename T>
Limits limits_of() {
  using Type = std::numeric_limits<T>;
  auto most = static_cast<double>(Type::max());
  // The conversion of the largest 64-bit integers to double rounds up, out of the type's range.
  if constexpr (Type::is_integer)
    most = std::min(most, std::nextafter(std::ldexp(1.0, Type::digits), 0.0));
  return {static_cast<double>(Type::lowest()), most};
}

Status check_range(const RandomTensor& request, DType dtype, Limits limits) {
  if (request.low >= limits.least && request.high <= limits.most) return {};
  return {StatusCode::kInvalidArgument,
          fmt::format("random elements from {} to {}: expected a range within {} to {} for {}",
                      request.low, request.high, limits.least, limits.most, name(dtype))};
}

template <typename T>
Status fill_integers(const Tensor& tensor, const RandomTensor& request, Random random,
                     Limits limits = limits_of<T>()) {
  SCOPEVM_RETURN_IF_ERROR(check_range(request, tensor.dtype(), limits));
  const double low = std::ceil(request.low), high = std::floor(request.high);
  if (low > high)
    return {StatusCode::kInvalidArgument,
            fmt::format("random elements from {} to {}: expected a range with an integer for {}",
                        request.low, request.high, name(tensor.dtype()))};
  // Rounding can make the sum high + 1.
  for (T& element : tensor.elements<T>())
    element = static_cast<T>(std::min(high, low + std::floor(random.next() * (high - low + 1))));
  return {};
}

template <typename T>
Status fill_reals(const Tensor& tensor, const RandomTensor& request, Random random) {
  SCOPEVM_RETURN_IF_ERROR(check_range(request, tensor.dtype(), limits_of<T>()));
  for (T& element : tensor.elements<T>())
    element = static_cast<T>(request.low + random.next() * (request.high - request.low));
  return {};
}

// Converts a finite number to f16. Rounds towards zero, and subnormals to zero: random elements
// need no exact rounding.
uint16_t half_bits(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  const auto sign = static_cast<uint16_t>((bits >> 16) & 0x8000);
  const int exponent = static_cast<int>((bits >> 23) & 0xff) - 127 + 15;
  if (exponent <= 0) return sign;
  if (exponent >= 31) return sign | 0x7bff;
  return static_cast<uint16_t>(sign | exponent << 10 | ((bits >> 13) & 0x3ff));
}

Status fill_halves(const Tensor& tensor, const RandomTensor& request, Random random) {
  constexpr Limits kHalf = {-65504, 65504};
  const bool is_bf16 = tensor.dtype() == DType::kBF16;
  SCOPEVM_RETURN_IF_ERROR(
      check_range(request, tensor.dtype(), is_bf16 ? limits_of<float>() : kHalf));
  for (uint16_t& element : tensor.elements<uint16_t>()) {
    const auto value =
        static_cast<float>(request.low + random.next() * (request.high - request.low));
    element =
        is_bf16 ? static_cast<uint16_t>(std::bit_cast<uint32_t>(value) >> 16) : half_bits(value);
  }
  return {};
}

// An integer in the range, or the float of the range that is nearest to a random real number.
Result<Tensor> random_small(DType dtype, const RandomTensor& request, Random random) {
  const runtime::SmallType& type = *runtime::small_type(dtype);
  std::vector<std::pair<double, unsigned>> choices;  // number and bits, in ascending order
  for (unsigned pattern = 0; pattern < 1u << type.bits; ++pattern)
    if (const double value = type.value_of(pattern); value >= request.low && value <= request.high)
      choices.emplace_back(value, pattern);
  std::ranges::sort(choices);
  if (choices.empty())
    return Status(StatusCode::kInvalidArgument,
                  fmt::format("random elements from {} to {}: no number of type {} is in the range",
                              request.low, request.high, name(dtype)));
  SCOPEVM_ASSIGN_OR_RETURN(const Tensor shape, Tensor::allocate(dtype, request.dims));
  std::vector<unsigned> patterns(static_cast<size_t>(shape.element_count()));
  for (unsigned& pattern : patterns) {
    const double share = random.next();
    auto at = choices.begin() + static_cast<ptrdiff_t>(share * static_cast<double>(choices.size()));
    if (type.kind != runtime::SmallType::Kind::kInteger) {
      const double real = request.low + share * (request.high - request.low);
      at = std::ranges::lower_bound(choices, std::pair(real, 0u));
      const bool is_last = at == choices.end();
      if (is_last || (at != choices.begin() && real - std::prev(at)->first < at->first - real))
        --at;
    }
    pattern = at->second;
  }
  return small_tensor(dtype, request.dims, patterns);
}

Status fill(const Tensor& tensor, const RandomTensor& request, Random random) {
  return runtime::visit_element_type(tensor.dtype(), [&](auto element) {
    using T = decltype(element);
    if constexpr (runtime::NarrowFloatType<T>)
      return fill_halves(tensor, request, random);
    else if constexpr (std::floating_point<T>)
      return fill_reals<T>(tensor, request, random);
    else if constexpr (std::same_as<T, bool>)
      return fill_integers<uint8_t>(tensor, request, random, {0, 1});
    else
      return fill_integers<T>(tensor, request, random);
  });
}

}  // namespace

Result<Tensor> random_tensor(DType dtype, const RandomTensor& request, uint64_t seed) {
  if (dtype == DType::kStr)
    return Status(StatusCode::kInvalidArgument,
                  "random string tensors are not supported; use NAME=string:A,B,C");
  if (is_small(dtype)) return random_small(dtype, request, Random(seed));
  SCOPEVM_ASSIGN_OR_RETURN(Tensor tensor, Tensor::allocate(dtype, request.dims));
  SCOPEVM_RETURN_IF_ERROR(fill(tensor, request, Random(seed)));
  return tensor;
}

}  // namespace scopevm::tool
