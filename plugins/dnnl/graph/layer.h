// A function that oneDNN can compute: one matrix product, convolution or pooling, and its epilogue.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "plugins/dnnl/graph/description.h"
#include "plugins/dnnl/graph/epilogue.h"

namespace scopevm::onednn {

// The window of a convolution or pooling. `pads` lists the padding before each spatial axis, then
// the padding after each one.
struct Window {
  std::vector<int64_t> kernel;  // of a pooling; empty for a convolution
  std::vector<int64_t> strides;
  std::vector<int64_t> pads;
  std::vector<int64_t> dilations;
  bool ceil_mode = false;
  size_t rank() const { return strides.size(); }
};

struct Layer {
  enum class Kind { kMatMul, kConvolution, kMaxPool, kAveragePool };
  Kind kind = Kind::kMatMul;
  size_t x = 0;                                   // operands of the function
  size_t w = 0;                                   // unused by pooling
  bool transpose_x = false, transpose_w = false;  // of a matrix product
  Window window;
  int64_t group = 1;
  bool count_pads = false;
  Epilogue epilogue;
  // Set if w is a constant: its dims. `prepared` is set if a run receives its prepared form.
  std::vector<int64_t> w_dims;
  std::optional<Prepared> prepared;
  std::vector<size_t> operand_ranks;
  size_t result_rank = 0;

  bool is_pool() const { return kind == Kind::kMaxPool || kind == Kind::kAveragePool; }
};

// The value of a dim that is a number below 10^9; nothing for a formula.
std::optional<int64_t> known_dim(const std::string& dim);

// Fails with kUnsupported, and the reason, if oneDNN cannot compute the function without memory
// beyond the workspace or only with its reference implementation.
Result<Layer> parse_layer(const Description& description);

}  // namespace scopevm::onednn
