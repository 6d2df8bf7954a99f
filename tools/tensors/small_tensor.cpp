// Tensors of the small types; see small_tensor.h.
#include "tools/tensors/small_tensor.h"

#include <fmt/format.h>

#include <cstring>
#include <optional>
#include <vector>

#include "runtime/count_text.h"
#include "runtime/tensor/element_types.h"
#include "runtime/tensor/small_type.h"

namespace scopevm::tool {

using runtime::SmallType;

namespace {

const SmallType& type_of(const Tensor& tensor) { return *runtime::small_type(tensor.dtype()); }

bool has_numbers_as_bytes(const SmallType& type) { return type.kind == SmallType::Kind::kInteger; }

// The bits of a byte of small_to_bytes(); no value if no element has it.
std::optional<unsigned> pattern_of_byte(const SmallType& type, const Tensor& bytes, int64_t i) {
  const uint8_t byte = bytes.elements<uint8_t>()[static_cast<size_t>(i)];
  if (has_numbers_as_bytes(type))
    return type.pattern_of(bytes.dtype() == DType::kI8 ? static_cast<int8_t>(byte) : byte);
  return byte < 1u << type.bits ? std::optional<unsigned>(byte) : std::nullopt;
}

}  // namespace

double small_element(const Tensor& tensor, int64_t index) {
  return type_of(tensor).value_of(runtime::pattern_at(type_of(tensor), tensor.data(), index));
}

Result<Tensor> small_tensor(DType dtype, std::span<const int64_t> dims,
                            std::span<const unsigned> patterns) {
  SCOPEVM_ASSIGN_OR_RETURN(Tensor tensor, Tensor::allocate(dtype, dims));
  if (tensor.element_count() != std::ssize(patterns))
    return Status(
        StatusCode::kInvalidArgument,
        fmt::format("{}, expected {}", runtime::count_text(std::ssize(patterns), "element"),
                    tensor.element_count()));
  std::memset(tensor.data(), 0, static_cast<size_t>(tensor.bytes()));
  int64_t i = 0;
  for (const unsigned pattern : patterns)
    runtime::set_pattern(type_of(tensor), tensor.data(), i++, pattern);
  return tensor;
}

Result<Tensor> widened(const Tensor& tensor) {
  SCOPEVM_ASSIGN_OR_RETURN(Tensor wide, Tensor::allocate(type_of(tensor).carrier, tensor.dims()));
  const std::vector<char> elements =
      runtime::widened(type_of(tensor), tensor.data(), tensor.element_count());
  if (!elements.empty()) std::memcpy(wide.data(), elements.data(), elements.size());
  return wide;
}

Result<Tensor> small_to_bytes(const Tensor& tensor) {
  const SmallType& type = type_of(tensor);
  if (has_numbers_as_bytes(type)) return widened(tensor);
  SCOPEVM_ASSIGN_OR_RETURN(Tensor bytes, Tensor::allocate(DType::kU8, tensor.dims()));
  int64_t i = 0;
  for (uint8_t& byte : bytes.elements<uint8_t>())
    byte = static_cast<uint8_t>(runtime::pattern_at(type, tensor.data(), i++));
  return bytes;
}

Result<Tensor> to_small(const Tensor& given, DType to) {
  const SmallType& type = *runtime::small_type(to);
  const bool is_bytes =
      given.dtype() == DType::kU8 || (has_numbers_as_bytes(type) && given.dtype() == DType::kI8);
  if (!is_bytes && given.dtype() != type.carrier) return given;
  std::vector<unsigned> patterns;
  for (int64_t i = 0; i < given.element_count(); ++i) {
    const auto* const element =
        static_cast<const char*>(given.data()) + i * byte_size(given.dtype());
    const double value = given.dtype() == DType::kI8   ? runtime::load_element<int8_t>(element)
                         : given.dtype() == DType::kU8 ? runtime::load_element<uint8_t>(element)
                                                       : carrier_value(type, element);
    const std::optional<unsigned> pattern =
        is_bytes ? pattern_of_byte(type, given, i) : type.pattern_of(value);
    if (!pattern)
      return Status(
          StatusCode::kInvalidArgument,
          fmt::format("element {} is {}, which is not an element of type {}", i, value, name(to)));
    patterns.push_back(*pattern);
  }
  return small_tensor(to, given.dims(), patterns);
}

}  // namespace scopevm::tool
