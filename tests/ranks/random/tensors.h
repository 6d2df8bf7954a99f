// Tensors of small integers, and the parts of tensors that ranks have.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "scopevm/tensor.h"
#include "tests/ranks/random/random.h"

namespace scopevm::ranks {

// With elements in [-3, 3], in [0, 3] of an unsigned type, or booleans.
Tensor random_tensor(Random& random, DType dtype, const std::vector<int64_t>& dims);
// Elements [start, start + size) along an axis.
Tensor slice_of(const Tensor& whole, size_t axis, int64_t start, int64_t size);
// The concatenation of the parts along the axis in which they have fewer elements than `dims`; the
// first part if there is none.
Tensor joined(const std::vector<Tensor>& parts, std::span<const int64_t> dims);
// The axis of joined(). -1: none.
int divided_axis(std::span<const int64_t> part, std::span<const int64_t> whole);
// A difference in type, dims or bytes as text; empty: none.
std::string difference(const Tensor& actual, const Tensor& expected);

}  // namespace scopevm::ranks
