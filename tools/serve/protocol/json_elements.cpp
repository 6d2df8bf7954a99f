// Walks flat and nested arrays; see json_elements.h.
#include "tools/serve/protocol/json_elements.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>
#include <type_traits>

#include "tools/serve/protocol/datatype.h"
#include "tools/serve/protocol/infer_json.h"
#include "tools/serve/protocol/invalid.h"

namespace scopevm::serve {
namespace {

using simdjson::dom::element;

// Each overload returns whether the value is one of the type.
bool read(element value, bool& result) { return value.get(result) == simdjson::SUCCESS; }

bool read(element value, std::string_view& result) {
  return value.get(result) == simdjson::SUCCESS;
}

template <typename T>
  requires(std::is_integral_v<T>)
bool read(element value, T& result) {
  using Wide = std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>;
  Wide wide = 0;
  if (value.get(wide) != simdjson::SUCCESS) return false;
  result = static_cast<T>(wide);
  return result == wide;
}

template <typename T>
  requires(std::is_floating_point_v<T>)
bool read(element value, T& result) {
  double wide = 0;
  if (value.get(wide) != simdjson::SUCCESS) return false;
  if (std::abs(wide) > static_cast<double>(std::numeric_limits<T>::max())) return false;
  result = static_cast<T>(wide);
  return true;
}

// The elements of `data` in order, in an array of `count` elements.
template <typename T>
class Elements {
 public:
  Elements(DType dtype, const std::vector<int64_t>& dims, T* next, int64_t count)
      : dtype_(dtype), dims_(dims), next_(next), end_(next + count), count_(count) {}

  Status read_all(element data) {
    const bool is_nested = is_array_of_arrays(data);
    SCOPEVM_RETURN_IF_ERROR(is_nested ? read_nested(data, 0) : read_flat(data, count_));
    return {};
  }

 private:
  static bool is_array_of_arrays(element data) {
    simdjson::dom::array array;
    if (data.get(array) != simdjson::SUCCESS) return false;
    return array.begin() != array.end() && (*array.begin()).is_array();
  }

  std::string position() const {
    return "data: element " + std::to_string(count_ - (end_ - next_)) + ": ";
  }

  Status read_flat(element data, int64_t expected) {
    simdjson::dom::array array;
    if (data.get(array) != simdjson::SUCCESS) return invalid(position() + "expected an array");
    int64_t read_elements = 0;
    for (const element value : array) {
      if (read_elements++ == expected) return wrong_count(expected, "more");
      if (!read(value, *next_))
        return invalid(position() + "expected " + datatype_name(dtype_) + ", given " +
                       simdjson::minify(value).substr(0, kShownBytes));
      ++next_;
    }
    return read_elements == expected ? Status()
                                     : wrong_count(expected, std::to_string(read_elements));
  }

  Status wrong_count(int64_t expected, const std::string& given) const {
    return invalid(position() + "expected an array of " + std::to_string(expected) +
                   " elements, given " + given);
  }

  Status read_nested(element data, size_t axis) {
    if (axis + 1 == dims_.size()) return read_flat(data, dims_[axis]);
    simdjson::dom::array array;
    if (axis + 1 > dims_.size() || data.get(array) != simdjson::SUCCESS)
      return invalid(position() + "expected arrays nested like the shape");
    int64_t parts = 0;
    for (const element part : array) {
      if (parts++ == dims_[axis]) return wrong_count(dims_[axis], "more");
      SCOPEVM_RETURN_IF_ERROR(read_nested(part, axis + 1));
    }
    return parts == dims_[axis] ? Status() : wrong_count(dims_[axis], std::to_string(parts));
  }

  static constexpr size_t kShownBytes = 40;
  DType dtype_;
  const std::vector<int64_t>& dims_;
  T* next_;
  T* end_;
  int64_t count_;
};

template <typename T>
Result<Tensor> numbers(element data, DType dtype, const std::vector<int64_t>& dims) {
  SCOPEVM_ASSIGN_OR_RETURN(Tensor tensor, Tensor::allocate(dtype, dims));
  Elements<T> elements(dtype, dims, static_cast<T*>(tensor.data()), tensor.element_count());
  SCOPEVM_RETURN_IF_ERROR(elements.read_all(data));
  return tensor;
}

Result<Tensor> strings(element data, const std::vector<int64_t>& dims, int64_t count) {
  std::vector<std::string_view> texts(static_cast<size_t>(count));
  Elements<std::string_view> elements(DType::kStr, dims, texts.data(), count);
  SCOPEVM_RETURN_IF_ERROR(elements.read_all(data));
  return Tensor::from_strings(texts, dims);
}

// The product of the dims. Errors: kInvalidArgument (more than `most`).
Result<int64_t> count_of(const std::vector<int64_t>& dims, int64_t most) {
  int64_t count = 1;
  if (std::ranges::find(dims, 0) != dims.end()) return int64_t{0};
  for (const int64_t dim : dims) {
    if (dim > most / count)
      return invalid("shape: more elements than the JSON of a request can contain");
    count *= dim;
  }
  return count;
}

}  // namespace

Result<Tensor> tensor_of_json(element data, DType dtype, const std::vector<int64_t>& dims) {
  // Before memory is taken for a shape that the data cannot have: an element has two bytes of JSON.
  SCOPEVM_ASSIGN_OR_RETURN(const int64_t count, count_of(dims, kMaxJsonBytes / 2));
  switch (dtype) {
    case DType::kBool:
      return numbers<bool>(data, dtype, dims);
    case DType::kI8:
      return numbers<int8_t>(data, dtype, dims);
    case DType::kI16:
      return numbers<int16_t>(data, dtype, dims);
    case DType::kI32:
      return numbers<int32_t>(data, dtype, dims);
    case DType::kI64:
      return numbers<int64_t>(data, dtype, dims);
    case DType::kU8:
      return numbers<uint8_t>(data, dtype, dims);
    case DType::kU16:
      return numbers<uint16_t>(data, dtype, dims);
    case DType::kU32:
      return numbers<uint32_t>(data, dtype, dims);
    case DType::kU64:
      return numbers<uint64_t>(data, dtype, dims);
    case DType::kF32:
      return numbers<float>(data, dtype, dims);
    case DType::kF64:
      return numbers<double>(data, dtype, dims);
    case DType::kStr:
      return strings(data, dims, count);
    default:
      return invalid(datatype_name(dtype) + " has no elements in JSON: send them as binary data");
  }
}

}  // namespace scopevm::serve
