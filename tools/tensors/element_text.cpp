// Formats tensor elements for the output of commands; see element_text.h.
#include "tools/tensors/element_text.h"

#include <fmt/format.h>

#include <concepts>
#include <vector>

#include "runtime/tensor/element_types.h"
#include "tools/files/standard_streams.h"
#include "tools/tensors/small_tensor.h"

namespace scopevm::tool {
namespace {

// The string in double quotes. Control characters, quotes and backslashes are escaped.
std::string quoted(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return "\"" + escaped(result) + "\"";
}

}  // namespace

std::string element_text(const Tensor& tensor, int64_t index) {
  if (tensor.dtype() == DType::kStr) return quoted(tensor.string_at(index));
  if (is_small(tensor.dtype())) return fmt::format("{:.4g}", small_element(tensor, index));
  return runtime::visit_element_type(tensor.dtype(), [&](auto type) -> std::string {
    using T = decltype(type);
    const T value = runtime::load_element<T>(static_cast<const T*>(tensor.data()) + index);
    if constexpr (std::same_as<T, runtime::Float16>)
      return fmt::format("{:.4g}", static_cast<double>(value));
    else if constexpr (std::same_as<T, runtime::BFloat16>)
      return fmt::format("{:.3g}", static_cast<double>(value));
    else if constexpr (std::floating_point<T>)
      return fmt::format("{:.6g}", value);
    else
      return fmt::format("{}", value);
  });
}

std::string exact_element_text(const Tensor& tensor, int64_t index) {
  if (tensor.dtype() == DType::kF32)
    return fmt::format("{}", static_cast<const float*>(tensor.data())[index]);
  if (tensor.dtype() == DType::kF64)
    return fmt::format("{}", static_cast<const double*>(tensor.data())[index]);
  return element_text(tensor, index);
}

std::string index_text(std::span<const int64_t> dims, int64_t index) {
  std::vector<int64_t> coordinates(dims.size());
  for (size_t axis = dims.size(); axis-- > 0; index /= dims[axis])
    coordinates[axis] = index % dims[axis];
  return fmt::format("[{}]", fmt::join(coordinates, ", "));
}

}  // namespace scopevm::tool
