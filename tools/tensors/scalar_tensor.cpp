// Parses one element; see scalar_tensor.h.
#include "tools/tensors/scalar_tensor.h"

#include <charconv>
#include <concepts>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "runtime/tensor/element_types.h"
#include "runtime/tensor/small_type.h"

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

// An element of a small type, alone in its byte.
bool store_small(std::string_view text, const Tensor& tensor) {
  double value = 0;
  if (!parse(text, value)) return false;
  const std::optional<unsigned> pattern = runtime::small_type(tensor.dtype())->pattern_of(value);
  if (pattern) *static_cast<uint8_t*>(tensor.data()) = static_cast<uint8_t>(*pattern);
  return pattern.has_value();
}

bool store(std::string_view text, const Tensor& tensor) {
  if (is_small(tensor.dtype())) return store_small(text, tensor);
  return runtime::visit_element_type(tensor.dtype(), [&](auto value) {
    bool is_valid = false;
    if constexpr (std::same_as<decltype(value), bool>) {
      value = text == "true" || text == "1";
      is_valid = value || text == "false" || text == "0";
    } else if constexpr (runtime::NarrowFloatType<decltype(value)>) {
      double exact = 0;
      is_valid = parse(text, exact);
      value = decltype(value)(exact);
    } else {
      is_valid = parse(text, value);
    }
    std::memcpy(tensor.data(), &value, sizeof value);
    return is_valid;
  });
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
  if (store(text, tensor)) return tensor;
  return wrong("a value of type " + std::string(name(dtype)));
}

}  // namespace scopevm::tool
