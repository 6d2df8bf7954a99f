// String tensors. The packed representation is count + 1 offsets (i64) followed by the concatenated
// strings. String i is the range from offset i to offset i + 1, relative to the end of the offsets.
#include <cstring>
#include <string>

#include "runtime/count_text.h"
#include "runtime/memory/storage.h"
#include "runtime/tensor/shape.h"
#include "runtime/tensor/string_tensor.h"
#include "runtime/tensor/tensor_access.h"
#include "runtime/without_exceptions.h"

namespace scopevm {
namespace runtime {

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

}  // namespace runtime

namespace {

Result<Tensor> copy_strings(std::span<const std::string_view> strings,
                            std::span<const int64_t> dims) {
  SCOPEVM_ASSIGN_OR_RETURN(const int64_t id_bytes, runtime::shape_bytes(DType::kStr, dims));
  if (id_bytes / byte_size(DType::kStr) != std::ssize(strings))
    return Status(StatusCode::kInvalidArgument,
                  "tensor of shape " + runtime::shape_text(dims) + ": expected " +
                      runtime::count_text(id_bytes / byte_size(DType::kStr), "string") +
                      ", given " + std::to_string(strings.size()));
  SCOPEVM_ASSIGN_OR_RETURN(const int64_t bytes, runtime::packed_bytes(strings));
  runtime::Storage* storage = runtime::Storage::allocate(bytes);
  if (storage == nullptr)
    return Status(StatusCode::kOutOfMemory,
                  "string tensor of " + runtime::count_text(bytes, "byte") + ": out of memory");
  runtime::pack_strings(strings, storage->data);
  return TensorAccess::make_strings(storage->data, storage, dims, bytes);
}

}  // namespace

Result<Tensor> Tensor::from_strings(std::span<const std::string_view> strings,
                                    std::span<const int64_t> dims) {
  return runtime::without_exceptions([&] { return copy_strings(strings, dims); });
}

int64_t Tensor::string_count() const {
  int64_t count = data_ == nullptr ? 0 : 1;
  for (const int64_t dim : dims()) count *= dim;
  return count;
}

std::string_view Tensor::string_at(int64_t i) const {
  const auto* offsets = static_cast<const int64_t*>(data_);
  const char* begin = reinterpret_cast<const char*>(offsets + string_count() + 1);
  return {begin + offsets[i], static_cast<size_t>(offsets[i + 1] - offsets[i])};
}

}  // namespace scopevm
