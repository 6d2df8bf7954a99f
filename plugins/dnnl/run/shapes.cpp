// Checks and arranges the dims of a run; see shapes.h.
#include "plugins/dnnl/run/shapes.h"

#include <algorithm>
#include <string>

namespace scopevm::onednn {
namespace {

Status wrong(const std::string& what) { return {StatusCode::kInvalidArgument, what}; }

std::string text_of(std::span<const int64_t> dims) {
  std::string text;
  for (int64_t dim : dims) text += (text.empty() ? "" : ", ") + std::to_string(dim);
  return "[" + text + "]";
}

// The dims of w: those of the constant if the operand is its prepared form.
std::span<const int64_t> given_weight(const Layer& layer, const scopevm_external_run& run) {
  return layer.prepared ? std::span<const int64_t>(layer.w_dims) : dims_of(run.operands[layer.w]);
}

Status check_prepared(const DLTensor& tensor, int64_t bytes) {
  const DLDataType& type = tensor.dtype;
  if (type.code == kDLUInt && type.bits == 8 && type.lanes == 1 && tensor.ndim == 1 &&
      tensor.shape[0] == bytes)
    return {};
  return wrong("the prepared weight is not a u8 tensor of " + std::to_string(bytes) + " elements");
}

Status check_tensor(const DLTensor& tensor, size_t rank, const std::string& name) {
  const DLDataType& type = tensor.dtype;
  if (type.code != kDLFloat || type.bits != 32 || type.lanes != 1)
    return wrong(name + " is not f32");
  if (tensor.ndim < 0 || static_cast<size_t>(tensor.ndim) != rank)
    return wrong(name + " has rank " + std::to_string(tensor.ndim) + ", expected " +
                 std::to_string(rank));
  return {};
}

Status check_dims(std::span<const int64_t> given, const Dims& expected, const std::string& name) {
  if (std::equal(given.begin(), given.end(), expected.begin(), expected.end())) return {};
  return wrong(name + " is " + text_of(given) + ", expected " + text_of(expected));
}

// The bias has one element per channel; the residual and the result have the dims `result`.
Status check_epilogue(const Layer& layer, const scopevm_external_run& run, int64_t channels,
                      const Dims& result) {
  SCOPEVM_RETURN_IF_ERROR(check_dims(dims_of(run.results[0]), result, "the result"));
  if (const auto& bias = layer.epilogue.bias) {
    int64_t count = 1;
    for (int64_t dim : dims_of(run.operands[*bias]))
      if (__builtin_mul_overflow(count, dim, &count)) count = -1;
    if (count != channels)
      return wrong("the bias is " + text_of(dims_of(run.operands[*bias])) + ", expected " +
                   std::to_string(channels) + " elements");
  }
  if (const auto& residual = layer.epilogue.residual)
    return check_dims(dims_of(run.operands[*residual]), result, "the residual");
  return {};
}

}  // namespace

Status check_tensors(const Layer& layer, const scopevm_external_run& run) {
  if (run.operand_count != layer.operand_ranks.size() || run.result_count != 1)
    return wrong(std::to_string(run.operand_count) + " operands and " +
                 std::to_string(run.result_count) + " results, expected " +
                 std::to_string(layer.operand_ranks.size()) + " and 1");
  for (size_t i = 0; i < run.operand_count; ++i)
    SCOPEVM_RETURN_IF_ERROR(layer.prepared && i == layer.w
                                ? check_prepared(run.operands[i], layer.prepared->bytes)
                                : check_tensor(run.operands[i], layer.operand_ranks[i],
                                               "operand " + std::to_string(i)));
  return check_tensor(run.results[0], layer.result_rank, "the result");
}

Result<MatMulDims> matmul_dims(const Layer& layer, const scopevm_external_run& run) {
  const auto x = dims_of(run.operands[layer.x]);
  const auto w = given_weight(layer, run);
  const int64_t m = x[x.size() - (layer.transpose_x ? 1 : 2)];
  const int64_t k = x[x.size() - (layer.transpose_x ? 2 : 1)];
  const int64_t w_k = w[w.size() - (layer.transpose_w ? 1 : 2)];
  const int64_t n = w[w.size() - (layer.transpose_w ? 2 : 1)];
  if (k != w_k)
    return wrong("the depths of the product differ: " + text_of(x) + " and " + text_of(w));
  Dims batch(x.begin(), x.end() - 2);
  if (w.size() > 2) SCOPEVM_RETURN_IF_ERROR(check_dims(w.first(w.size() - 2), batch, "the batch"));
  Dims result = batch;
  result.insert(result.end(), {m, n});
  SCOPEVM_RETURN_IF_ERROR(check_epilogue(layer, run, n, result));
  int64_t count = 1;
  for (int64_t dim : batch) count *= dim;
  if (w.size() > 2) return MatMulDims{count, m, k, n};
  return MatMulDims{1, count * m, k, n};
}

Result<WindowDims> window_dims(const Layer& layer, std::span<const int64_t> x,
                               std::span<const int64_t> w) {
  const Window& window = layer.window;
  const size_t rank = window.rank();
  WindowDims dims{x[0], x[1], layer.is_pool() ? x[1] : w[0], {}, {}, {}, {}, {}, {}, {}};
  if (!layer.is_pool() &&
      (w[1] > INT64_MAX / layer.group || w[1] * layer.group != x[1] || w[0] % layer.group != 0))
    return wrong("x is " + text_of(x) + " and the weight " + text_of(w) + ", with group " +
                 std::to_string(layer.group));
  if (rank == 1) {
    for (Dims* unit : {&dims.in, &dims.kernel, &dims.out, &dims.strides, &dims.dilations})
      unit->push_back(1);
    dims.pads_before.push_back(0);
    dims.pads_after.push_back(0);
  }
  for (size_t i = 0; i < rank; ++i) {
    const int64_t in = x[2 + i];
    const int64_t kernel = layer.is_pool() ? window.kernel[i] : w[2 + i];
    const int64_t before = window.pads[i], stride = window.strides[i];
    // All terms are far below the limits of int64: strides, pads and dilations are at most 2^20.
    const int64_t reach = (kernel - 1) * window.dilations[i] + 1;
    const int64_t span = in + before + window.pads[rank + i] - reach;
    int64_t out = span < 0 ? 0 : span / stride + 1;
    if (window.ceil_mode && span >= 0)
      out = std::min((span + stride - 1) / stride + 1, (in + before - 1) / stride + 1);
    dims.in.push_back(in);
    dims.kernel.push_back(kernel);
    dims.out.push_back(out);
    dims.strides.push_back(stride);
    dims.dilations.push_back(window.dilations[i] - 1);  // oneDNN counts from 0
    dims.pads_before.push_back(before);
    // oneDNN derives the result from the padding: with ceil_mode, the last window ends it.
    dims.pads_after.push_back(window.ceil_mode
                                  ? std::max<int64_t>(0, (out - 1) * stride + reach - in - before)
                                  : window.pads[rank + i]);
  }
  return dims;
}

Result<WindowDims> window_dims(const Layer& layer, const scopevm_external_run& run) {
  SCOPEVM_ASSIGN_OR_RETURN(WindowDims dims, window_dims(layer, dims_of(run.operands[layer.x]),
                                                        given_weight(layer, run)));
  Dims result = {dims.n, dims.m};
  result.insert(result.end(), dims.out.end() - static_cast<int64_t>(layer.window.rank()),
                dims.out.end());
  SCOPEVM_RETURN_IF_ERROR(check_epilogue(layer, run, dims.m, result));
  return dims;
}

Dims weight_dims(const Layer& layer, const WindowDims& dims) {
  const int64_t g = layer.group;
  Dims weight = g == 1 ? Dims{dims.m, dims.c} : Dims{g, dims.m / g, dims.c / g};
  weight.insert(weight.end(), dims.kernel.begin(), dims.kernel.end());
  return weight;
}

}  // namespace scopevm::onednn
