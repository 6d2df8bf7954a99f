// Digests of tensors: equal digests mean equal types, dims and bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "scopevm/tensor.h"
#include "vm/format/binary/checksum.h"

namespace scopevm::tool {

struct TensorDigest {
  DType dtype = DType::kF32;
  std::vector<int64_t> dims;
  format::Digest digest;  // of all elements
  // Checksums of consecutive blocks of digest_block_elements(), which locate a difference.
  std::vector<uint64_t> blocks;

  friend bool operator==(const TensorDigest&, const TensorDigest&) = default;
};

// The number of elements that a block has: 1 KiB of numbers, or one string.
int64_t digest_block_elements(DType dtype);

TensorDigest tensor_digest(const Tensor& tensor);

// The elements [first, second) that contain the first difference of two tensors with equal types
// and dims; no value for equal tensors.
std::optional<std::pair<int64_t, int64_t>> first_difference(const TensorDigest& a,
                                                            const TensorDigest& b);

}  // namespace scopevm::tool
