// Fills tensors with pseudorandom numbers; see random_tensor.h.
#include "tools/scopevm/tensors/random_tensor.h"

#include <bit>
#include <cmath>

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

template <typename T>
void fill_integers(const Tensor& tensor, const RandomTensor& request, Random random) {
  const double low = std::ceil(request.low);
  const double span = std::floor(request.high) - low + 1;
  for (T& element : tensor.elements<T>())
    element = static_cast<T>(static_cast<int64_t>(low + std::floor(random.next() * span)));
}

template <typename T>
void fill_reals(const Tensor& tensor, const RandomTensor& request, Random random) {
  for (T& element : tensor.elements<T>())
    element = static_cast<T>(request.low + random.next() * (request.high - request.low));
}

// Converts to f16. Rounds towards zero and flushes subnormals to zero: random elements need no
// exact rounding.
uint16_t half_bits(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  const auto sign = static_cast<uint16_t>((bits >> 16) & 0x8000);
  const int exponent = static_cast<int>((bits >> 23) & 0xff) - 127 + 15;
  if (exponent <= 0) return sign;
  if (exponent >= 31) return sign | 0x7bff;
  return static_cast<uint16_t>(sign | exponent << 10 | ((bits >> 13) & 0x3ff));
}

void fill_halves(const Tensor& tensor, const RandomTensor& request, Random random) {
  const bool is_bf16 = tensor.dtype() == DType::kBF16;
  for (uint16_t& element : tensor.elements<uint16_t>()) {
    const auto value =
        static_cast<float>(request.low + random.next() * (request.high - request.low));
    element =
        is_bf16 ? static_cast<uint16_t>(std::bit_cast<uint32_t>(value) >> 16) : half_bits(value);
  }
}

}  // namespace

Result<Tensor> random_tensor(DType dtype, const RandomTensor& request, uint64_t seed) {
  if (dtype == DType::kStr)
    return Status(StatusCode::kInvalidArgument,
                  "random string tensors are not supported; use NAME=string:A,B,C");
  SCOPEVM_ASSIGN_OR_RETURN(Tensor tensor, Tensor::allocate(dtype, request.dims));
  const Random random(seed);
  switch (dtype) {
    case DType::kBool:
    case DType::kU8:
      fill_integers<uint8_t>(tensor, request, random);
      break;
    case DType::kI8:
      fill_integers<int8_t>(tensor, request, random);
      break;
    case DType::kI16:
    case DType::kU16:
      fill_integers<uint16_t>(tensor, request, random);
      break;
    case DType::kI32:
    case DType::kU32:
      fill_integers<uint32_t>(tensor, request, random);
      break;
    case DType::kI64:
    case DType::kU64:
      fill_integers<uint64_t>(tensor, request, random);
      break;
    case DType::kF16:
    case DType::kBF16:
      fill_halves(tensor, request, random);
      break;
    case DType::kF32:
      fill_reals<float>(tensor, request, random);
      break;
    case DType::kF64:
      fill_reals<double>(tensor, request, random);
      break;
    case DType::kStr:
      break;  // rejected above
  }
  return tensor;
}

}  // namespace scopevm::tool
