// Computes and compares digests of tensors; see tensor_digest.h.
#include "tools/execution/tensor_digest.h"

#include <algorithm>
#include <string_view>

namespace scopevm::tool {
namespace {

constexpr int64_t kBlockBytes = 1024;

}  // namespace

int64_t digest_block_elements(DType dtype) {
  return dtype == DType::kStr ? 1 : kBlockBytes / byte_size(dtype) * elements_per_byte(dtype);
}

TensorDigest tensor_digest(const Tensor& tensor) {
  TensorDigest result;
  result.dtype = tensor.dtype();
  result.dims.assign(tensor.dims().begin(), tensor.dims().end());
  if (tensor.dtype() != DType::kStr) {
    const auto* const bytes = static_cast<const uint8_t*>(tensor.data());
    const auto size = static_cast<size_t>(tensor.bytes());
    result.digest = format::digest(bytes, size);
    for (size_t at = 0; at < size; at += kBlockBytes)
      result.blocks.push_back(
          format::checksum(bytes + at, std::min<size_t>(kBlockBytes, size - at)));
    return result;
  }
  format::StreamingDigest digest;
  for (int64_t i = 0; i < tensor.element_count(); ++i) {
    const std::string_view text = tensor.string_at(i);
    const uint64_t size = text.size();
    digest.add(&size, sizeof size);
    digest.add(text.data(), text.size());
    result.blocks.push_back(format::checksum(text.data(), text.size()));
  }
  result.digest = digest.value();
  return result;
}

std::optional<std::pair<int64_t, int64_t>> first_difference(const TensorDigest& a,
                                                            const TensorDigest& b) {
  if (a.digest == b.digest) return std::nullopt;
  int64_t count = 1;
  for (const int64_t dim : a.dims) count *= dim;
  const int64_t step = digest_block_elements(a.dtype);
  for (size_t i = 0; i < std::min(a.blocks.size(), b.blocks.size()); ++i)
    if (a.blocks[i] != b.blocks[i]) {
      const int64_t begin = static_cast<int64_t>(i) * step;
      return std::pair(begin, std::min(begin + step, count));
    }
  return std::pair(int64_t{0}, count);  // a collision of the checksums of blocks
}

}  // namespace scopevm::tool
