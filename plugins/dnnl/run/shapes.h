// The dims of one run, checked against the layer.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "plugins/dnnl/graph/layer.h"
#include "scopevm/c/external.h"
#include "scopevm/status.h"

namespace scopevm::onednn {

using Dims = std::vector<int64_t>;

// The dims of a matrix product as oneDNN gets them: x is [batch, m, k], w is [batch, k, n] or
// [1, k, n]. The batch is 1 if it could be made part of m.
struct MatMulDims {
  int64_t batch, m, k, n;

  // The dims of a batch of matrices. One matrix has rank 2, because oneDNN has faster layouts for
  // it.
  Dims of(int64_t rows, int64_t columns) const {
    return batch == 1 ? Dims{rows, columns} : Dims{batch, rows, columns};
  }
};

// The dims of a convolution or pooling: x is [n, c, in...], w is [m, c / group, kernel...], the
// result is [n, m, out...]. A window over one dim becomes one over two dims, with a first spatial
// dim of 1, because oneDNN has no fast depthwise convolution over one dim.
struct WindowDims {
  int64_t n, c, m;
  Dims in, kernel, out;
  Dims strides, dilations, pads_before, pads_after;
};

// Check element types, ranks and dims of the tensors of `run`; fail with kInvalidArgument.
// REQUIRES: check_tensors() succeeded for the other functions.
Status check_tensors(const Layer& layer, const scopevm_external_run& run);
Result<MatMulDims> matmul_dims(const Layer& layer, const scopevm_external_run& run);
Result<WindowDims> window_dims(const Layer& layer, const scopevm_external_run& run);

// The dims of a convolution or pooling with these operands, without the checks of its epilogue.
Result<WindowDims> window_dims(const Layer& layer, std::span<const int64_t> x,
                               std::span<const int64_t> w);

// The dims of the weight of a convolution as oneDNN gets them.
Dims weight_dims(const Layer& layer, const WindowDims& dims);

inline std::span<const int64_t> dims_of(const DLTensor& tensor) {
  return {tensor.shape, static_cast<size_t>(tensor.ndim)};
}

}  // namespace scopevm::onednn
