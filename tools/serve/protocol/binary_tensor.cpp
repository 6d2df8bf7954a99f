// Reads and writes the bytes of tensors; see binary_tensor.h.
#include "tools/serve/protocol/binary_tensor.h"

#include <array>
#include <charconv>
#include <cstring>
#include <system_error>

#include "tools/serve/protocol/invalid.h"

namespace scopevm::serve {
namespace {

// Strings of a BYTES tensor: each has its size before it, in 4 bytes.
Result<Tensor> strings_of(std::string_view bytes, const std::vector<int64_t>& dims) {
  std::vector<std::string_view> strings;
  while (!bytes.empty()) {
    uint32_t size = 0;
    if (bytes.size() < sizeof size) return invalid("the binary data ends in the size of a string");
    std::memcpy(&size, bytes.data(), sizeof size);  // both are little-endian
    bytes.remove_prefix(sizeof size);
    if (bytes.size() < size) return invalid("the binary data ends in a string");
    strings.push_back(bytes.substr(0, size));
    bytes.remove_prefix(size);
  }
  return Tensor::from_strings(strings, dims);
}

Result<Tensor> unchecked(std::string_view bytes, DType dtype, const std::vector<int64_t>& dims) {
  if (dtype == DType::kStr) return strings_of(bytes, dims);
  int64_t count = 1;
  for (const int64_t dim : dims) count *= dim == 0 ? 0 : 1;
  const auto most = static_cast<int64_t>(bytes.size()) * elements_per_byte(dtype);
  for (const int64_t dim : dims) {
    if (count != 0 && dim > most / count)
      return invalid("the binary data is smaller than the shape");
    count *= dim;
  }
  const int64_t expected = byte_size(dtype, count);
  if (expected != static_cast<int64_t>(bytes.size()))
    return invalid("expected " + std::to_string(expected) + " bytes of binary data, given " +
                   std::to_string(bytes.size()));
  const auto* const data = static_cast<const void*>(bytes.data());
  const bool is_aligned =
      reinterpret_cast<uintptr_t>(data) % static_cast<uintptr_t>(byte_size(dtype)) == 0;
  if (is_aligned && !bytes.empty()) return Tensor::borrow(data, dtype, dims);
  SCOPEVM_ASSIGN_OR_RETURN(Tensor copy, Tensor::allocate(dtype, dims));
  if (!bytes.empty()) std::memcpy(copy.data(), data, bytes.size());
  return copy;
}

// A bool is one byte, 0 or 1: the program relies on it.
Status check_bools(const Tensor& tensor) {
  if (tensor.dtype() != DType::kBool) return {};
  for (const uint8_t value : tensor.elements<uint8_t>())
    if (value > 1)
      return invalid("expected bytes 0 and 1 for BOOL, given " + std::to_string(value));
  return {};
}

}  // namespace

Result<Tensor> tensor_of_bytes(std::string_view bytes, DType dtype,
                               const std::vector<int64_t>& dims) {
  SCOPEVM_ASSIGN_OR_RETURN(Tensor tensor, unchecked(bytes, dtype, dims));
  SCOPEVM_RETURN_IF_ERROR(check_bools(tensor));
  return tensor;
}

size_t binary_size(const Tensor& tensor) {
  if (tensor.dtype() != DType::kStr) return static_cast<size_t>(tensor.bytes());
  size_t bytes = 0;
  for (int64_t i = 0; i < tensor.element_count(); ++i)
    bytes += sizeof(uint32_t) + tensor.string_at(i).size();
  return bytes;
}

void append_binary(std::string& body, const Tensor& tensor) {
  if (tensor.dtype() != DType::kStr) {
    body.append(static_cast<const char*>(tensor.data()), static_cast<size_t>(tensor.bytes()));
    return;
  }
  for (int64_t i = 0; i < tensor.element_count(); ++i) {
    const std::string_view text = tensor.string_at(i);
    const auto size = static_cast<uint32_t>(text.size());
    std::array<char, sizeof size> bytes;
    std::memcpy(bytes.data(), &size, sizeof size);
    body.append(bytes.data(), bytes.size()).append(text);
  }
}

std::vector<int64_t> constant_dims(const TensorSignature& tensor) {
  std::vector<int64_t> dims;
  for (const std::string& text : tensor.dims) {
    int64_t dim = 0;
    const char* const last = text.data() + text.size();
    const auto [end, error] = std::from_chars(text.data(), last, dim);
    dims.push_back(error == std::errc() && end == last ? dim : -1);
  }
  return dims;
}

}  // namespace scopevm::serve
