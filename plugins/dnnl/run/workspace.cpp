// Workspace formulas; see workspace.h.
//
// oneDNN reports the sizes of a primitive's scratchpad and of its blocked operands only for known
// dims, and documents no bound. The allowances below are at least what oneDNN 2.6.3 reports for
// random shapes, on 1 to 16 threads: 12,000 matrix products and 4,665 of 4,671 convolutions, with
// less scratch memory than below. If a shape needs more, plan.cpp uses a slower implementation that
// fits.
#include "plugins/dnnl/run/workspace.h"

namespace scopevm::onednn {
namespace {

using std::to_string;

// Every buffer of the workspace starts at a multiple of 64 bytes.
constexpr int64_t kAlignmentSlack = 1024;

std::string product(const std::vector<std::string>& dims, size_t begin, size_t end) {
  std::string text = "1";
  for (size_t i = begin; i < end; ++i) text += "*(" + dims[i] + ")";
  return text;
}

std::string rounded(const std::string& dim, int64_t block) {
  return to_string(block) + "*ceildiv(" + dim + "," + to_string(block) + ")";
}

std::string at_most(const std::string& dim, int64_t most) {
  return "min(" + dim + "," + to_string(most) + ")";
}

// For each thread: a panel of w of up to 1280 x 64 elements, and a tile of the result of up to
// 256 x 64 elements. A transposed x is copied.
std::string matmul_formula(const Layer& layer, const Description& description) {
  const std::vector<std::string>& x = description.type(layer.x).dims;
  const std::vector<std::string>& w = description.type(layer.w).dims;
  const std::string& m = x[x.size() - (layer.transpose_x ? 1 : 2)];
  const std::string& k = x[x.size() - (layer.transpose_x ? 2 : 1)];
  const std::string& n = w[w.size() - (layer.transpose_w ? 2 : 1)];
  // The batch can be part of the rows.
  const std::string rows = product(x, 0, x.size() - 2) + "*(" + m + ")";
  const std::string panel = "256*" + at_most(rounded(k, 16), 1280);
  const std::string tile =
      "4*" + at_most(rounded(rows, 16), 256) + "*" + at_most(rounded(n, 16), 64);
  std::string formula = "$threads*(2048+" + panel + "+" + tile + ")";
  if (layer.transpose_x) formula += "+4*" + product(x, 0, x.size());
  return formula;
}

std::string convolution_formula(const Layer& layer, const Description& description) {
  const std::vector<std::string>& x = description.type(layer.x).dims;
  const std::vector<std::string>& w = description.type(layer.w).dims;
  const std::vector<std::string>& y =
      description.ops[description.results[0] - description.operands.size()].type.dims;
  auto blocked = [](const std::vector<std::string>& dims) {
    return "4*(" + dims[0] + ")*" + rounded(dims[1], 16) + "*" + product(dims, 2, dims.size());
  };
  const bool is_depthwise = layer.group > 1 && w[1] == "1";
  const std::string kernel = product(w, 2, w.size());
  const std::string group = to_string(layer.group);
  std::string channels = rounded(w[0], 16);
  if (!is_depthwise)
    channels = group + "*" + rounded("ceildiv(" + w[0] + "," + group + ")", 64) + "*(" +
               rounded(w[1], 16) + "+16)";
  // For each thread: accumulators, and the part of x that a row of the result depends on.
  const std::vector<int64_t>& pads = layer.window.pads;
  const std::string row =
      "(" + x.back() + "+" + to_string(pads[layer.window.rank() - 1] + pads.back() + 128) + ")";
  const std::string scratch =
      "$threads*(12288+64*" + product(w, 2, w.size() - 1) + "*" + row + ")+4096";
  // A prepared weight is not copied.
  const std::string weight = layer.prepared ? "" : "4*" + channels + "*" + kernel + "+";
  return blocked(x) + "+" + blocked(y) + "+" + weight + scratch;
}

// For each thread: 16 channels of x and of the result, and the positions of the maxima.
std::string pool_formula(const Layer& layer, const Description& description) {
  const std::vector<std::string>& x = description.type(layer.x).dims;
  const std::vector<std::string>& y = description.ops.front().type.dims;
  return "$threads*(1024+64*" + product(x, 2, x.size()) + "+128*" + product(y, 2, y.size()) + ")";
}

}  // namespace

std::string workspace_formula(const Layer& layer, const Description& description) {
  const std::string slack = to_string(kAlignmentSlack) + "+";
  if (layer.kind == Layer::Kind::kMatMul) return slack + matmul_formula(layer, description);
  if (layer.is_pool()) return slack + pool_formula(layer, description);
  return slack + convolution_formula(layer, description);
}

}  // namespace scopevm::onednn
