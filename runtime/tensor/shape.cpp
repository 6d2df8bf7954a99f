// Sizes and formatting of shapes; see shape.h.
#include "runtime/tensor/shape.h"

#include "scopevm/tensor.h"

namespace scopevm::runtime {

Result<int64_t> shape_bytes(DType dtype, std::span<const int64_t> dims) {
  if (dims.size() > kMaxRank)
    return Status(StatusCode::kInvalidArgument,
                  "shape " + shape_text(dims) + ": rank " + std::to_string(dims.size()) +
                      " exceeds the limit of " + std::to_string(kMaxRank));
  const int64_t element = byte_size(dtype);
  int64_t bytes = element;
  bool is_zero = false;
  for (const int64_t dim : dims) {
    if (dim < 0)
      return Status(StatusCode::kInvalidArgument, "shape " + shape_text(dims) + ": negative dim");
    is_zero |= dim == 0;
    // Zeros are skipped, so that [2^62, 2^62, 0] is rejected too: later computations multiply only
    // some of the dims and would overflow.
    if (dim != 0 && __builtin_mul_overflow(bytes, dim, &bytes))
      return Status(StatusCode::kInvalidArgument,
                    "shape " + shape_text(dims) + ": the size in bytes exceeds 64 bits");
  }
  return is_zero ? 0 : byte_size(dtype, bytes / element);
}

std::string shape_text(std::span<const int64_t> dims) {
  std::string text = "[";
  for (size_t i = 0; i < dims.size(); ++i) {
    if (i > 0) text += ", ";
    text += std::to_string(dims[i]);
  }
  return text + "]";
}

std::string type_text(DType dtype, std::span<const int64_t> dims) {
  return std::string(name(dtype)) + shape_text(dims);
}

}  // namespace scopevm::runtime
