// String tensors. The packed representation is count + 1 offsets (i64) followed by the concatenated
// strings. String i is the range from offset i to offset i + 1, relative to the end of the offsets.
#include "runtime/tensor/string_tensor.h"

#include <cstring>
#include <string>

#include "runtime/c_api/c_arguments.h"
#include "runtime/count_text.h"
#include "runtime/memory/storage.h"
#include "runtime/tensor/shape.h"
#include "runtime/tensor/tensor_access.h"

namespace scopevm::runtime {

Result<int64_t> packed_bytes(std::span<const std::string_view> strings) {
  int64_t bytes = (std::ssize(strings) + 1) * static_cast<int64_t>(sizeof(int64_t));
  for (const std::string_view text : strings)
    if (__builtin_add_overflow(bytes, static_cast<int64_t>(text.size()), &bytes))
      return Status(StatusCode::kInvalidArgument, "the size of the strings exceeds 64 bits");
  return bytes;
}

void pack_strings(std::span<const std::string_view> strings, void* to) {
  auto* offsets = static_cast<int64_t*>(to);
  char* begin = reinterpret_cast<char*>(offsets + strings.size() + 1);
  int64_t at = 0;
  for (size_t i = 0; i < strings.size(); ++i) {
    offsets[i] = at;
    // An empty view can have null data, which must not be passed to memcpy.
    if (!strings[i].empty()) std::memcpy(begin + at, strings[i].data(), strings[i].size());
    at += static_cast<int64_t>(strings[i].size());
  }
  offsets[strings.size()] = at;
}

Result<Tensor> copy_strings(std::span<const std::string_view> strings,
                            std::span<const int64_t> dims) {
  SCOPEVM_ASSIGN_OR_RETURN(const int64_t id_bytes, shape_bytes(DType::kStr, dims));
  if (id_bytes / byte_size(DType::kStr) != std::ssize(strings))
    return Status(StatusCode::kInvalidArgument,
                  "tensor of shape " + shape_text(dims) + ": expected " +
                      count_text(id_bytes / byte_size(DType::kStr), "string") + ", given " +
                      std::to_string(strings.size()));
  SCOPEVM_ASSIGN_OR_RETURN(const int64_t bytes, packed_bytes(strings));
  Storage* storage = Storage::allocate(bytes);
  if (storage == nullptr)
    return Status(StatusCode::kOutOfMemory,
                  "string tensor of " + count_text(bytes, "byte") + ": out of memory");
  pack_strings(strings, storage->data);
  return TensorAccess::make_strings(storage->data, storage, dims, bytes);
}

}  // namespace scopevm::runtime

scopevm_status* scopevm_tensor_string(const scopevm_tensor* tensor, size_t position,
                                      const char** out_text, size_t* out_size) {
  using scopevm::Status;
  using scopevm::StatusCode;
  return scopevm::checked(
      {{tensor, "tensor"}, {out_text, "out_text"}, {out_size, "out_size"}}, [&]() -> Status {
        const scopevm::Tensor& strings = scopevm::TensorAccess::of(*tensor);
        if (strings.dtype() != scopevm::DType::kStr)
          return {StatusCode::kInvalidArgument, "the tensor has " +
                                                    std::string(name(strings.dtype())) +
                                                    " elements, expected strings"};
        const auto count = static_cast<size_t>(strings.element_count());
        if (position >= count)
          return {StatusCode::kNotFound, "no string " + std::to_string(position) +
                                             ": the tensor has " +
                                             scopevm::runtime::count_text(count, "string")};
        const auto* offsets = static_cast<const int64_t*>(strings.data());
        *out_text = reinterpret_cast<const char*>(offsets + count + 1) + offsets[position];
        *out_size = static_cast<size_t>(offsets[position + 1] - offsets[position]);
        return {};
      });
}
